/** A variable of the environment, as docs/settings.md and .env.example show it. */
export interface Setting {
  readonly name: string;
  /** Its default, or the behaviour if it is not set. */
  readonly standard: string;
  readonly meaning: string;
  /** A value to begin with in .env.example: the setting is required there. */
  readonly required?: string;
  /**
   * The reader of the setting. By default the service, through service/environment.ts. `sdk`: the library for traces;
   * `secret files`: service/secret-files.ts.
   */
  readonly readBy?: 'bin/dev' | 'compose.yaml' | 'sdk' | 'secret files';
  /** Why compose.yaml sets its own value, or none; it passes on all others. */
  readonly decidedByCompose?: string;
}

/** Returns the row of a setting. */
export function row(
  name: string,
  standard: string,
  meaning: string,
  moreFields: Omit<Setting, 'name' | 'standard' | 'meaning'> = {},
): Setting {
  return { name, standard, meaning, ...moreFields };
}

/** Returns the row of a setting that only compose.yaml reads. */
export function composedSetting(name: string, standard: string, meaning: string): Setting {
  return { name, standard, meaning, readBy: 'compose.yaml' };
}

/** Settings of one theme. */
export interface SettingGroup {
  readonly title: string;
  readonly settings: readonly Setting[];
  /** A note that applies to several of them. Markdown. */
  readonly note?: string;
}
