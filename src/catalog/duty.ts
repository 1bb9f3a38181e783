/** What the alarm of the Catalog is for. */

/** Something the object does at times of its own; what is due, and when, is in its tables. */
export interface Duty {
  /** null: nothing is to be done. */
  nextDue(): number | null;
  /** Does what is due. Never throws: what fails stays due, later. */
  tend(): Promise<void>;
}
