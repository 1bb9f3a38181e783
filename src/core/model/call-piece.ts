/**
 * What a provider event, or a call parsed from a model's text, says about one call: the input of the assembler
 * (`tool-call-assembler.ts`).
 */
/** What one wire event says about a call. Any field may be missing, empty or null, since all of this occurs on real wires. */
export type CallPiece = {
  id?: string | null;
  index?: number | null;
  name?: string | null;
  /** A string is a piece of JSON; an object is complete. */
  arguments?: string | object | null;
  /** The argument is free text, not JSON. */
  custom?: boolean;
  /** For a call parsed from a model's text: what was wrong with the text around the arguments. */
  carrier?: CarrierFault;
};

/**
 * `closed`: only closing brackets were missing. `mended`: it was not strict JSON, so the arguments count as repaired even if they
 * parse. `unreadable`: it contains no call, and the argument text is all of it.
 */
export type CarrierFault = 'closed' | 'mended' | 'unreadable';
