/**
 * Secrets and the workspace's registry with the policy beneath them, as `guard-files.ts` has files: whoever reads a secret or changes a
 * toolset meets it, whatever tool does it. Used by `ask-first.ts`.
 */
import type { Effect } from '../../core/policy-effect.ts';
import type { ConfigurationDesk } from '../../ports/configuration-desk.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import type { ToolMaker } from '../../ports/tool-maker.ts';

/** Throws the error that the tool gets instead. `ruled`: only what a rule of the workspace asks about requires approval. */
export type Check = (effects: readonly Effect[], options?: { ruled: boolean }) => void;

export function guardSecret(secret: ToolContext['secret'], check: Check): ToolContext['secret'] {
  return async (name, host) => {
    check([{ kind: 'secret', name }]);
    return await secret(name, host);
  };
}

/**
 * `inTurn`: a model acts. Elsewhere whoever holds the key does, and has said what is to be done: nobody is asked about that again unless a rule
 * says so. Writing a toolset is asked about by rules alone: an earlier version is a rollback away, and a deleted one is not.
 */
export function guardDesk(desk: ConfigurationDesk, check: Check, inTurn: boolean): ConfigurationDesk {
  const writes = (...names: string[]): void => {
    const effects = names.map((name): Effect => ({ kind: 'registry', change: 'write-toolset', name }));
    check(effects, { ruled: true });
  };
  return {
    ...desk,
    async write(name, document, version) {
      writes(name);
      return await desk.write(name, document, version);
    },
    async rename(from, to, version) {
      writes(from, to);
      return await desk.rename(from, to, version);
    },
    async remove(name, version) {
      check([{ kind: 'registry', change: 'delete-toolset', name }], { ruled: !inTurn });
      await desk.remove(name, version);
    },
  };
}

/** A new private tool needs no approval: it does nothing by itself, and all that it calls is judged. Sharing and replacing need it. `inTurn` as above. */
export function guardMaker(maker: ToolMaker, check: Check, inTurn: boolean): ToolMaker {
  return {
    async prepare(request) {
      const prepared = await maker.prepare(request);
      const effects = prepared.changes.map((change): Effect => ({ kind: 'registry', ...change }));
      check(effects, { ruled: !inTurn });
      return prepared;
    },
  };
}
