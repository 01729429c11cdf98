import type { ReplyValue } from './exchange.ts';

/** Our envelope opens with these words, and the code is the first thing in an error. */
const ERROR_CODE = /^\{"success":false,"error":\{"code":"([A-Z_]+)"/;

/** The code of a refusal, whichever node wrote it; undefined for a success and for what is no envelope of ours. */
export function errorCode({ status, body }: Pick<ReplyValue, 'status' | 'body'>): string | undefined {
  if (status < 400 || typeof body !== 'string') return undefined;
  return ERROR_CODE.exec(body)?.[1];
}
