/** Why a tool is held, and what an administrator sees of it before accepting (contract §4, pins). The Catalog decides it. */
import * as z from 'zod';
import { cutToLength } from '../text/utf8.ts';

/**
 * One difference between two definitions: a JSON Pointer into `{description, inputSchema, …}`. Absent `from`: added; absent `to`: removed.
 */
export const DefinitionChange = z
  .object({ path: z.string(), from: z.unknown().optional(), to: z.unknown().optional() })
  .meta({ id: 'DefinitionChange' });
export type DefinitionChange = z.infer<typeof DefinitionChange>;

/** Something in a definition that an administrator should see. `path`: a JSON Pointer into the definition. */
export const Finding = z.object({ finding: z.string(), path: z.string(), message: z.string() }).meta({ id: 'Finding' });
export type Finding = z.infer<typeof Finding>;

/** Reported findings of one listed definition: enough to judge it. */
export const maxDefinitionFindings = 20;

/** The finding that the server changed its identity (`core/servers/server-identity.ts`). */
export const identityChanged = 'other-server';

/**
 * Why a tool cannot be called until an administrator decides. `changed`: its definition differs from the accepted one. `new`: its server
 * added it after the first listing. `suspicious`: it has findings, such as texts that address the model about more than the tool. `server`: its server changed its
 * name, see `findings`. `rejected`: an administrator rejected it. `revoked`: it was revoked from the toolset. `refId`: the definition that this is about.
 */
export const Hold = z
  .object({
    reason: z.enum(['changed', 'new', 'suspicious', 'server', 'rejected', 'revoked']),
    refId: z.string(),
    changes: z.array(DefinitionChange),
    findings: z.array(Finding).optional(),
  })
  .meta({ id: 'Hold' });
export type Hold = z.infer<typeof Hold>;

/** Why a definition that was not rejected is held. */
export type HoldReason = Exclude<Hold['reason'], 'rejected' | 'revoked'>;

/** As the reason in "it is held, …". */
export const holdTexts: Readonly<Record<Hold['reason'], string>> = {
  changed: 'its definition changed',
  new: 'it was added after the first listing',
  suspicious: 'it has findings',
  server: 'its server changed its name',
  rejected: 'it was rejected',
  revoked: 'it was revoked',
};

/** Says why a tool cannot be called, for administrators. */
export function describeHold({ reason }: Pick<Hold, 'reason'> = { reason: 'changed' }): string {
  if (reason === 'rejected') return 'an administrator rejected its definition';
  if (reason === 'revoked') return 'it was revoked from this toolset';
  return `it is held (${reason}) until an administrator accepts its definition`;
}

/** Adds one finding, with a bounded path. The number is bounded by the number of texts; `listing.ts` limits how many are reported. */
export function addFinding(findings: Finding[], { finding, path, message }: Finding): void {
  findings.push({ finding, path: shortPath(path), message });
}

export function shortPath(path: string): string {
  return cutToLength(path, 300);
}
