/** Time, identity and the log: what pure code takes as values and the engine takes as ports. Fakes are a line each. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once, `ms` from now, unless the returned function is called before. What hot paths use: no signal is made. */
  after(ms: number, run: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when aborted before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** A fresh unguessable id such as `call_01h…`; the prefix tells its kind. */
  next(prefix: string): string;
}

/** One JSON line a record. Values may come from strangers: encoders keep a record on one line. */
export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}
