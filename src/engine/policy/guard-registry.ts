/**
 * Applies the policy to secrets and to the workspace's registry, as `guard-files.ts` does to files, whatever tool uses them. Used by
 * `policy-guard.ts`.
 */
import type { Effect } from '../../core/policy/policy-effect.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import type { ToolMaker } from '../../ports/tool-maker.ts';

/** Throws the error that the tool gets instead. `ruled`: approval is required only if a rule of the workspace asks for it. */
export type CheckEffects = (effects: readonly Effect[], options?: { ruled: boolean }) => void;

/** `inTurn`: a model makes the call. Otherwise the holder of the key makes it deliberately, so approval is required only if a rule says so. */
export function guardRegistry(
  { secret, configuration, maker }: ToolContext,
  check: CheckEffects,
  inTurn: boolean,
): Pick<ToolContext, 'secret' | 'configuration' | 'maker'> {
  return {
    async secret(name, host) {
      check([{ kind: 'secret', name }]);
      return await secret(name, host);
    },
    configuration: configuration && guardToolsetEditor(configuration, check, inTurn),
    maker: maker && guardMaker(maker, check, inTurn),
  };
}

/** Writing a toolset requires approval only by a rule, since an earlier version can be restored; a deleted toolset cannot. */
function guardToolsetEditor(editor: ToolsetEditor, check: CheckEffects, inTurn: boolean): ToolsetEditor {
  const checkWrite = (...names: string[]): void => {
    const effects = names.map((name): Effect => ({ kind: 'registry', change: 'write-toolset', name }));
    check(effects, { ruled: true });
  };
  return {
    ...editor,
    async write(name, document, version) {
      checkWrite(name);
      return await editor.write(name, document, version);
    },
    async rename(from, to, version) {
      checkWrite(from, to);
      return await editor.rename(from, to, version);
    },
    async remove(name, version) {
      check([{ kind: 'registry', change: 'delete-toolset', name }], { ruled: !inTurn });
      await editor.remove(name, version);
    },
  };
}

/** Creating a private tool needs no approval: it does nothing by itself, and its calls are judged. Sharing and replacing need it. */
function guardMaker(maker: ToolMaker, check: CheckEffects, inTurn: boolean): ToolMaker {
  return {
    async prepare(request) {
      const prepared = await maker.prepare(request);
      const effects = prepared.changes.map((change): Effect => ({ kind: 'registry', ...change }));
      check(effects, { ruled: !inTurn });
      return prepared;
    },
  };
}
