/** Calls over real tools and files that the caller stored: the question, and the state of the files afterwards. */
import { recordOf } from '../../src/core/json/wire-value.ts';
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import type { GivenApproval, ApprovalQuestion } from '../../src/core/policy/approval.ts';
import { compileEdition } from '../../src/core/toolset/edition.ts';
import { PolicyRule } from '../../src/core/policy/rule.ts';
import { contentText } from '../../src/core/tools/tool.ts';
import { Toolset } from '../../src/core/toolset/toolset.ts';
import { callTool } from '../../src/engine/call/call-tool.ts';
import type { CallDeps, CallScope } from '../../src/engine/call/call-scope.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { createCodeExecutor } from '../../src/tools/executor.ts';
import { codeTools, toolDefinitions } from '../../src/tools/registry.ts';
import { countedIds, keptLog } from '../fakes/runtime.ts';
import { callWith, yesTo, type How } from './approve.ts';

const definitions = new Map(toolDefinitions().map((tool) => [tool.canonical as string, tool]));
const known = { get: (name: string) => definitions.get(name), all: () => definitions.values(), hasServer: () => true };
const tools = [...definitions.keys()].map((tool) => ({ tool, aliases: [] }));
const { edition } = await compileEdition({ workspace: 'default', name: 'demo', toolset: Toolset.parse({ tools }), known });

/** The outcome of a call; `yes` approves its question. */
type Asking = {
  asked: ApprovalQuestion | null;
  isError: boolean;
  code: string | undefined;
  text: string;
  exitCode: number | null;
  yes(): Promise<Asking>;
};

export function policyDoor({ rules = [], ...more }: { rules?: readonly object[] } & Partial<Omit<CallScope, 'rules'>> = {}) {
  const files = createMemoryFiles(() => 0);
  for (const path of ['a.txt', 'b.txt', 'd/x']) files.write(`/workspace/${path}`, new TextEncoder().encode(`${path}\n`), { own: false });
  const [log, ids] = [keptLog(), countedIds()];
  const sent: string[] = [];
  const deps: CallDeps = {
    clock: systemClock,
    log,
    executor: createCodeExecutor(codeTools()),
    async fetch(request, _signal, onHop) {
      onHop?.(new URL(request.url), 0);
      sent.push(`${request.method} ${request.url}`);
      return new Response('ok');
    },
    secret: () => Promise.reject(new Error('no secrets here')),
  };
  const names = buildAliasMap(edition, { aliases: true });
  const scope: CallScope = {
    keyId: 'root',
    session: 's1',
    turn: null,
    names: () => names,
    edition: null,
    files,
    results: null,
    timeoutMs: 30_000,
    rules: rules.map((rule) => PolicyRule.parse(rule)),
    canWait: true,
    audit: () => undefined,
    ...more,
  };
  const call = async (requested: string, args: Record<string, unknown>, how: How = {}) => {
    const request = { callId: ids.next('call'), requested, arguments: args };
    const outcome = await callWith(how, (more) => callTool(deps, scope, { ...request, ...more }, new AbortController().signal));
    if ('waitFor' in outcome) {
      const { waitFor } = outcome;
      const asked: ApprovalQuestion | null = waitFor.kind === 'approval' ? waitFor.ask : null;
      const nextYes = waitFor.kind === 'approval' ? yesTo(waitFor) : null;
      return { asked, yes: nextYes, isError: false, code: undefined, text: '', exitCode: null };
    }
    const { isError, code, content, structuredContent } = outcome.answer.result;
    const exitCode = recordOf(structuredContent).exitCode;
    return { asked: null, yes: null, isError, code, text: contentText(content), exitCode: typeof exitCode === 'number' ? exitCode : null };
  };
  /** Calls; `yes` then approves the question, after something else may have happened, and calls again. */
  const ask = async (requested: string, args: Record<string, unknown>) => {
    const callId = ids.next('call');
    const asking = async (approved: GivenApproval | null): Promise<Asking> => {
      const { yes, ...answer } = await call(requested, args, { callId, ...(approved !== null && { approved }) });
      return { ...answer, yes: () => (yes === null ? Promise.reject(new Error('nothing was asked')) : asking(yes)) };
    };
    return await asking(null);
  };
  const text = (path: string): string => new TextDecoder().decode(files.read(`/workspace/${path}`));
  return {
    deps,
    scope,
    files,
    log,
    sent,
    call,
    ask,
    /** Runs a script, and answers its questions as `ask` does. */
    script: (command: string) => ask('bash', { command, timeout: 4_000 }),
    bash: (command: string, how: How = {}) => call('bash', { command, timeout: 4_000 }, how),
    paths: () => files.paths(),
    text,
    /** The contents of the caller's files that still exist under any path, sorted. */
    given: () =>
      files
        .paths()
        .filter((path) => files.stat(path)?.kind === 'file' && files.stat(path)?.own === false)
        .map((path) => new TextDecoder().decode(files.read(path)))
        .sort(),
  };
}
