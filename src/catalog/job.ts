/** Background jobs of the Catalog's alarm. */

/** A job with times of its own. What is due, and when, is stored in its tables. */
export interface Job {
  /** Returns null if nothing is scheduled. */
  nextDue(): number | null;
  /** Runs what is due. Never throws: failed work stays due at a later time. */
  runDue(): Promise<void>;
}
