/**
 * PATCH of documents: a JSON Merge Patch (RFC 7396) over the stored document, then validated and written like a PUT of the result. Values
 * that GET does not show, such as the key of a provider, are kept unless the patch has a new one.
 */
import * as z from 'zod';
import { mergePatch } from '../core/json/merge-patch.ts';
import { invalidRequest, Problem, parseInput } from '../core/problem.ts';
import type { StoredDocument, WriteOptions } from '../ports/catalog.ts';
import { retry } from '../engine/retry.ts';
import { systemClock } from '../platform/clock.ts';

/**
 * How long a patch without `If-Match` is tried again when other writes come between its reading and its writing. One of those that meet is stored
 * each time; the others wait for a random time, longer after each failure, so that they meet less often.
 */
const patchingMs = 25_000;
const waitAfterFailureMs = 10;
const maxWaitMs = 500;

export const patchBody = {
  schema: z.record(z.string(), z.unknown()).meta({
    id: 'MergePatch',
    description: 'Members to change (RFC 7396): objects are merged, `null` removes a member, any other value, a list too, replaces.',
    example: { description: 'Changed.' },
  }),
  also: 'application/merge-patch+json',
} as const;

export const patchHeaders = { 'if-match': 'The expected current `ETag`, or `*`. Otherwise 412. Default: the newest version is patched.' };

export const patchedAnswer = 'Changed or unchanged.';

/** `kept`: members that a PUT without them keeps, mostly secrets. `removable`: those of them that a patch may remove with null. */
export type Patching<Body extends z.ZodType, Result> = {
  schema: Body;
  kept?: readonly string[];
  removable?: readonly string[];
  /** Changes the merged document before it is parsed. */
  settle?(merged: Record<string, unknown>): Record<string, unknown>;
  /** `version`: null for a document that has its default value and was never written. */
  read(): Promise<Pick<StoredDocument, 'body'> & { version: number | null }>;
  write(body: z.output<Body>, options: WriteOptions): Promise<Result>;
};

/** `given`: the conditions of the request. Throws `invalid_request` if the result is not a valid document; nothing is written then. */
export async function patchDocument<Body extends z.ZodType, Result>(
  patch: Record<string, unknown>,
  given: WriteOptions,
  { schema, kept = [], removable = [], settle = (merged) => merged, read, write }: Patching<Body, Result>,
): Promise<Result> {
  const removed = kept.filter((name) => patch[name] === null);
  const refused = removed.filter((name) => !removable.includes(name));
  if (refused.length > 0) throw invalidRequest(refused.map((path) => ({ path, message: 'cannot be removed: send a new value' })));
  const isConditional = typeof given.ifMatch === 'number';
  const isLost = (error: unknown): boolean => error instanceof Problem && error.code === 'precondition_failed';
  const began = systemClock.now();
  const delayMs = (error: unknown, failures: number) => {
    if (!isLost(error) || isConditional || given.ifNoneMatch === true) return null;
    if (systemClock.now() - began > patchingMs)
      throw new Problem(
        'unavailable',
        'Too many others write this document at this moment. Nothing of the patch is stored: try again later.',
      );
    return Math.random() * Math.min(failures * waitAfterFailureMs, maxWaitMs);
  };
  return await retry({ clock: systemClock }, { maxRetries: Number.POSITIVE_INFINITY, delayMs }, async () => {
    const { body, version } = await read();
    const parsed = parseInput(schema, settle(mergePatch(body, patch)));
    const unchanged = version === null ? { ifNoneMatch: true } : { ifMatch: version };
    const conditions = isConditional ? given : { ...given, ...unchanged };
    return await write(parsed, { ...conditions, ...(removed.length > 0 && { removed }) });
  });
}
