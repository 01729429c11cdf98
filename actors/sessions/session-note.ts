/** Something of a session that operators should see, and in which its shop's actor has no part. */
export type SessionNote =
  /** The network announced how many stanzas waited while the session was away. */
  | { readonly type: 'offline_announced'; readonly count: number }
  /** It reported that all were sent; `drained` of them arrived. */
  | { readonly type: 'offline_drained'; readonly announced: number; readonly drained: number }
  /** It stopped sending the waiting stanzas, and did not report that all were sent. */
  | { readonly type: 'offline_unfinished'; readonly announced: number; readonly drained: number }
  /** It ended the stream, because a stanza of that class was not acknowledged. */
  | { readonly type: 'unanswered'; readonly stanzaClass: string; readonly stanzaType: string | undefined };
