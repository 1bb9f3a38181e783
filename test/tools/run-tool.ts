/** Runs a registered tool as `engine/call/call-tool.ts` does, with files and an outbound client that the test chooses. */
import type { EditionTool } from '../../src/core/toolset/edition-tool.ts';
import { contentText, type ToolResult } from '../../src/core/tools/tool.ts';
import type { FileSystem } from '../../src/ports/file-system.ts';
import type { InnerCalls } from '../../src/ports/inner-calls.ts';
import type { ResultStore } from '../../src/ports/result-store.ts';
import type { Logger } from '../../src/ports/runtime.ts';
import type { ComputeMeter, Sandbox } from '../../src/ports/sandbox.ts';
import type { SkillReader } from '../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { createCodeExecutor } from '../../src/tools/executor.ts';
import { codeTools } from '../../src/tools/registry.ts';

const executor = createCodeExecutor(codeTools());
const silent: Logger = { error() {}, info() {}, debug() {} };

export type Bench = {
  files: FileSystem;
  run(canonical: string, args: Record<string, unknown>): Promise<ToolResult & { text: string }>;
};

export function toolBench(
  parts: {
    files?: FileSystem;
    results?: ResultStore;
    fetch?: (request: Request) => Promise<Response>;
    signal?: AbortSignal;
    skills?: SkillReader | null;
    calls?: InnerCalls | null;
    sandbox?: Sandbox | null;
    compute?: ComputeMeter;
    mayAuthenticate?: boolean;
  } = {},
): Bench {
  const files = parts.files ?? createMemoryFiles(() => 0);
  return {
    files,
    async run(canonical, args) {
      // The executor reads nothing else of an edition's tool.
      const result = await executor.execute({ canonical } as EditionTool, args, {
        signal: parts.signal ?? new AbortController().signal,
        log: silent,
        files,
        secret: () => Promise.reject(new Error('no secrets here')),
        ...(parts.mayAuthenticate === true && { mayAuthenticate: true }),
        fetch: parts.fetch ?? (() => Promise.reject(new Error('no network here'))),
        now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
        idempotencyKey: 'call_1',
        results: parts.results ?? null,
        find: null,
        skills: parts.skills ?? null,
        configuration: null,
        maker: null,
        calls: parts.calls ?? null,
        sandbox: parts.sandbox ?? null,
        ...(parts.compute && { compute: parts.compute }),
        conversation: 'key',
        channel: {},
        given: null,
        tokens: null,
      });
      return { ...result, text: contentText(result.content) };
    },
  };
}

export function put(files: FileSystem, path: string, content: string): void {
  files.write(path, new TextEncoder().encode(content));
}
