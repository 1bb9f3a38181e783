/** What a problem says about the failure of a model provider, beyond its code: for the dialects, whose clients branch on it. */
import { isRecord, stringOf } from '../json/wire-value.ts';

/** What the provider reported. '' and null: nothing. */
export type Reported = { message: string; code: string | null; type: string | null; param: string | null };

/** Returns the member `reported` of a problem; null: it is no provider's, or the provider reported nothing. */
export function reportedIn({ reported }: Readonly<Record<string, unknown>>): Reported | null {
  if (!isRecord(reported)) return null;
  const { message, code, type, param } = reported;
  return { message: stringOf(message), code: stringOf(code) || null, type: stringOf(type) || null, param: stringOf(param) || null };
}

/** The code with which OpenAI's API refuses a conversation that does not fit the model, of every provider. */
export const overflowCode = 'context_length_exceeded';

/** Statuses of a provider that only the operator of this service can act on, since its account there is meant. */
export const operatorStatuses: ReadonlySet<unknown> = new Set([401, 402, 403, 407]);
