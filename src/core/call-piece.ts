/**
 * What providers' events, and calls that are read out of a model's words, say about one call: what the assembler
 * (`tool-call-assembler.ts`) is fed with.
 */
/** What one wire event says about a call. Everything may be missing, empty or null: real wires do all of it. */
export type CallPiece = {
  id?: string | null;
  index?: number | null;
  name?: string | null;
  /** A text is a piece of JSON; an object is whole. */
  arguments?: string | object | null;
  /** The argument is free text, not JSON. */
  custom?: boolean;
  /** Of a call that was read out of a model's words: what was wrong with the text around the arguments. */
  carrier?: CarrierFault;
};

/**
 * `closed`: it lacked only closers. `mended`: it was no strict JSON, so that the arguments count as repaired however they read.
 * `unreadable`: there is no call in it, and the argument text is all of it.
 */
export type CarrierFault = 'closed' | 'mended' | 'unreadable';
