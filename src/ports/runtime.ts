/** Time, ids and the log: values for pure code, ports for the engine. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once after `ms`, unless the returned function is called before. For hot paths, since it needs no signal. */
  after(ms: number, run: () => void): () => void;
  /** Resolves after `ms`; rejects with the signal's reason when aborted before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** Returns a new unguessable id such as `call_01h…`; the prefix is its kind. */
  next(prefix: string): string;
}

/** One JSON line per record. Values may be untrusted; encoders keep a record on one line. */
export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
}
