/** The files that an MCP call works on: those of its MCP session, of the key with the toolset, or those that the caller names. */
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { invalidRequest } from '../../core/problem.ts';
import { errorResult } from '../../core/tools/tool.ts';
import type { FileSpace, FileSpaceName } from '../../ports/file-space.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { ToolExecutor } from '../../ports/tool-executor.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { CallOutcome } from '../call/tool-call.ts';

export type CallFilesDeps = {
  log: Logger;
  scratchFiles(): FileSystem;
  fileSpace(principal: Principal, name: FileSpaceName): FileSpace;
};

/** `executor`: knows which tools use files. `files`: of the MCP session of the call. `space`: the caller's name for other files. `toolset`: the toolset of the call; null: none. */
export type FilesOfCall = {
  principal: Principal;
  executor: Pick<ToolExecutor, 'usesFiles'>;
  files?: FileSystem | undefined;
  space?: string | undefined;
  toolset: string | null;
};

/** `save` stores the changes of a call that has ended, and returns its outcome. */
export type CallFiles = { files: FileSystem; save(outcome: CallOutcome): Promise<CallOutcome> };

/** Loads the files, for tools that work on them. */
export async function openCallFiles(deps: CallFilesDeps, call: FilesOfCall, tool: EditionTool | null): Promise<CallFiles> {
  const unchanged = async (outcome: CallOutcome): Promise<CallOutcome> => outcome;
  if (tool === null || call.executor.usesFiles?.(tool) !== true) return { files: deps.scratchFiles(), save: unchanged };
  if (call.space === undefined && call.files !== undefined) return { files: call.files, save: unchanged };
  const space = deps.fileSpace(call.principal, call.space === undefined ? { kind: 'key', toolset: call.toolset } : readName(call.space));
  const open = await space.open();
  return {
    files: open.files,
    async save(outcome) {
      // A call that waits is made again from the start.
      if (!('answer' in outcome)) return outcome;
      try {
        await open.save();
        return outcome;
      } catch (error) {
        deps.log.error('the files of an MCP call could not be stored', { tool: tool.canonical, cause: String(error) });
        const text = 'The call was run, but the files that it changed could not be stored. They are as before the call.';
        return { answer: { ...outcome.answer, result: errorResult('tool_error', text) } };
      }
    },
  };
}

function readName(name: string): FileSpaceName {
  if (/^[0-9a-f]{64}$/.test(name)) return { kind: 'session', session: name };
  if (/^[A-Za-z0-9._-]{1,63}$/.test(name)) return { kind: 'named', name };
  const message = 'must be the id of a session, or a name of your choice: 1 to 63 letters, digits, ".", "_" and "-"';
  throw invalidRequest([{ path: 'x-moniker-session', message }]);
}
