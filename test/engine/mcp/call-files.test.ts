import { describe, expect, it } from 'vitest';
import { openCallFiles } from '../../../src/engine/mcp/call-files.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { codeTools } from '../../../src/tools/registry.ts';
import { createCodeExecutor } from '../../../src/tools/executor.ts';
import { createMadeExecutor } from '../../../src/sandbox/made-executor.ts';
import { executorByKind } from '../../../src/engine/call/executor-by-kind.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';

const code = createCodeExecutor(codeTools());
const executor = executorByKind({ builtin: code, local: code, made: createMadeExecutor() });

/** Whether the stored files of the caller are loaded for a call of the tool. */
async function isLoadedFor(kind: EditionTool['kind'], canonical: string): Promise<boolean> {
  const opened: string[] = [];
  const deps = {
    log: {} as never,
    scratchFiles: () => createMemoryFiles(() => 0),
    fileSpace: () => ({
      async open() {
        opened.push(canonical);
        return { files: createMemoryFiles(() => 0), save: async () => undefined };
      },
    }),
  };
  await openCallFiles(deps, { principal: { workspace: 'default' } as never, executor, toolset: null }, { kind, canonical } as EditionTool);
  return opened.length > 0;
}

describe('the files of an MCP call', () => {
  it('are loaded only for tools that work on files, or that call tools', async () => {
    const loaded: string[] = [];
    for (const { canonical, server } of codeTools()) if (await isLoadedFor(server, canonical)) loaded.push(canonical);
    expect(loaded.sort()).toEqual(
      ['bash', 'delete_file', 'edit_file', 'list_directory', 'read_file', 'run_code', 'write_file'].map((name) => `builtin.${name}`),
    );
    expect(await isLoadedFor('made', 'made.anything')).toBe(true);
    expect(await isLoadedFor('mcp', 'files.read_file')).toBe(false);
  });
});
