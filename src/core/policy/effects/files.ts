/** The effects on the files of a session: reading, writing and deleting. `engine/policy/file-effects.ts` computes them. */
import { boundedText } from '../../text/bounded-text.ts';
import * as z from 'zod';
import { limits } from '../../limits/limits.ts';
import { isInside, joinPath, resolvePath, workspace } from '../../text/path.ts';
import { effectKind, listed, writesOutside } from './effect-kind.ts';

/** A path as a tool would give it; the policy checks the resolved path. */
const Path = boundedText(limits.maxPathBytes)
  .transform((text, context) => {
    const resolved = text.startsWith('/') ? resolvePath(text, '/') : { ok: false as const, reason: 'it does not start with /' };
    if (resolved.ok) return resolved.path;
    context.addIssue({ code: 'custom', message: `must be an absolute path: ${resolved.reason}` });
    return z.NEVER;
  })
  .meta({ description: 'Absolute path.', example: '/workspace/notes.txt' });

export const readFileKind = effectKind(z.strictObject({ kind: z.literal('read-file'), path: Path }), {
  subject: ({ path }) => ({ path }),
  action: () => 'read',
  describe: ({ path }) => `reading ${path}`,
  change: () => 'read',
  examples: ({ path }) => examplePaths(path).map((path) => ({ kind: 'read-file' as const, path })),
});

/**
 * `overwrite`: content is lost. `attributes`: the content does not change. `move-away`: the content moves to another path. `own`:
 * the content is produced by the session, not by the caller.
 */
const changes = ['create', 'append', 'overwrite', 'attributes', 'move-away'] as const;
const WriteFile = z.strictObject({
  kind: z.literal('write-file'),
  path: Path,
  change: z.enum(changes).default('create'),
  own: z.boolean().default(true).meta({ description: 'Whether the session wrote the current content.' }),
});

export const writeFileKind = effectKind(WriteFile, {
  subject: ({ path }) => ({ path }),
  action: ({ change }) => (change === 'overwrite' ? 'replace' : change === 'move-away' ? 'move' : 'write'),
  describe: ({ path, change }) => (change === 'move-away' ? `moving ${path} away` : `writing ${path}`),
  change: (effect) => (losesContent(effect) ? 'destroy' : 'write'),
  questions(effect) {
    const { path } = effect;
    const reason = `It replaces the content of ${path}, which this session did not write`;
    return listed(losesContent(effect) ? { kind: 'overwrite-file', reason, target: path } : null, writesOutside(path));
  },
  raises(effect, kind) {
    if (kind === 'overwrite-file') return losesContent(effect);
    // The file is gone from its path: a file that may not be deleted may not be moved away either.
    if (kind === 'delete-file') return effect.change === 'move-away';
    return kind === 'write-outside' && !isInside(effect.path, workspace);
  },
  examples: ({ path }) =>
    examplePaths(path).flatMap((path) =>
      changes.flatMap((change) => [true, false].map((own) => ({ kind: 'write-file' as const, path, change, own }))),
    ),
});

export const deleteFileKind = effectKind(z.strictObject({ kind: z.literal('delete-file'), path: Path }), {
  subject: ({ path }) => ({ path }),
  action: () => 'delete',
  describe: ({ path }) => `deleting ${path}`,
  change: () => 'destroy',
  questions: ({ path }) =>
    listed({ kind: 'delete-file', reason: `It deletes ${path}, which cannot be undone`, target: path }, writesOutside(path)),
  raises: ({ path }, kind) => kind === 'delete-file' || (kind === 'write-outside' && !isInside(path, workspace)),
  examples: ({ path }) => examplePaths(path).map((path) => ({ kind: 'delete-file' as const, path })),
});

function losesContent({ change, own }: z.infer<typeof WriteFile>): boolean {
  return change === 'overwrite' && !own;
}

function examplePaths(path: string | undefined): string[] {
  return path === undefined ? [`${workspace}/a`, '/a'] : [path, joinPath(path, 'a'), ...(path === '/' ? [workspace] : [])];
}
