/**
 * What the policy says to a call or an effect, without doing it (POST /v1/policy/test). A script of the shell is rehearsed on files that are
 * thrown away: what it would do to them is what it does there; it sends nothing and calls nothing, which is listed instead.
 */
import type { AliasMap } from '../../core/alias-map.ts';
import type { EditionTool } from '../../core/edition-tool.ts';
import { limits } from '../../core/limits.ts';
import type { PolicyAnswer } from '../../core/policy/explain.ts';
import { requestHost } from '../../core/policy/host.ts';
import { checkInput } from '../../core/schema/input-schema.ts';
import { judge, type Judgement } from '../../core/policy/judge.ts';
import type { Effect } from '../../core/policy-effect.ts';
import { Problem } from '../../core/problem.ts';
import { errorResult } from '../../core/tool.ts';
import type { FileOverlay, FileSystem } from '../../ports/file-system.ts';
import type { InnerCalls } from '../../ports/inner-calls.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { sentArguments } from '../entry-call.ts';
import { callEffects, withEntry } from './foresee.ts';
import { guardFiles } from './guard-files.ts';
import { innerNames, innerTool, innerTools } from '../inner/inner-names.ts';
import { createJudge, type JudgedScope } from './judge-effect.ts';
import type { CallDeps, CallScope } from '../tool-call.ts';

/** `isScratch`: the files are nobody's, and empty. */
export type ExplainScope = JudgedScope & Pick<CallScope, 'caller'> & { files: FileSystem; isScratch?: boolean; names: AliasMap | null };
type ExplainDeps = Pick<CallDeps, 'executor' | 'log' | 'clock' | 'refuses'>;

/** `tool`: who would do it; null: none that a rule could be about. */
export function explainEffect(scope: JudgedScope, effect: Effect, tool: string | null): PolicyAnswer {
  const actor = { tool: tool ?? '', agent: scope.agent ?? null, key: scope.keyId };
  const judged = judge(scope.rules, effect, { actor, taint: null });
  return toAnswer(tool, judged, [toldEffect(tool, effect, judged)]);
}

export async function explainCall(
  deps: ExplainDeps,
  scope: ExplainScope,
  tool: EditionTool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<PolicyAnswer> {
  const own = sentArguments(tool, args, scope.caller);
  const record = createRecord();
  const judgeOwn = createJudge(scope, tool);
  for (const effect of callEffects(deps, tool, own, scope.isScratch === true ? null : scope.files))
    record.add(tool.canonical, effect, judgeOwn(effect));
  if (tool.canonical === 'builtin.bash') await rehearse(deps, scope, tool, own, record, signal);
  if (tool.kind === 'made') tellUses(deps, scope, tool, record);
  const notes = notesOn(scope, tool, args);
  return { ...toAnswer(tool.canonical, withEntry(tool, record.worst()), record.told()), ...(notes.length > 0 && { notes }) };
}

/** Whoever reads "allow" has to know what it is said of. */
function notesOn({ isScratch }: ExplainScope, tool: EditionTool, args: Record<string, unknown>): string[] {
  const { canonical, made } = tool;
  const notes: string[] = [];
  const issues = checkInput(tool.inputSchema, args);
  if (issues.length > 0) {
    const told = issues.slice(0, limits.maxToldAdvice).map(({ path, message }) => `${path === '' ? 'arguments' : path}: ${message}`);
    notes.push(`The call would be refused, since its arguments are not valid (${told.join('; ')}).`);
  }
  if (made !== undefined || canonical === 'builtin.run_code') {
    const which = made === undefined ? '' : `: ${made.uses.map((use) => use.canonical).join(', ') || 'it calls none'}`;
    notes.push(`Calls that its code makes are judged one by one, when it makes them${which}.`);
  }
  if (isScratch === true && changesFiles.has(canonical))
    notes.push('Judged as if there were no files: with `toolset` and `session` it is judged on the files of that session.');
  return notes;
}

/** What is to be deleted is taken to be there. */
const changesFiles: ReadonlySet<string> = new Set(['bash', 'write_file', 'edit_file'].map((name) => `builtin.${name}`));

type Told = PolicyAnswer['effects'][number];
/** `tell`: for the list, where the verdict does not go by it. */
type Record_ = Record<'add' | 'tell', (tool: string, effect: Effect, judged: Judgement) => void> & { worst(): Judgement; told(): Told[] };

function createRecord(): Record_ {
  const told: Told[] = [];
  const known = new Set<string>();
  let worst: Judgement | null = null;
  const tell: Record_['tell'] = (tool, effect, judged) => {
    if (told.length >= limits.maxToldEffects) return;
    const text = JSON.stringify([tool, effect]);
    if (known.has(text)) return;
    known.add(text);
    told.push(toldEffect(tool, effect, judged));
  };
  return {
    tell,
    add(tool, effect, judged) {
      if (worst === null || rank(judged) > rank(worst)) worst = judged;
      tell(tool, effect, judged);
    },
    worst() {
      if (worst === null) throw new Error('nothing was judged');
      return worst;
    },
    told: () => told,
  };
}

/** Deny before ask before what a rule allows before the rest. */
function rank({ verdict, rule }: Judgement): number {
  return { deny: 3, ask: 2, allow: rule === null ? 0 : 1 }[verdict];
}

/** What a made tool may call, and that in its turn: each by what is known without its arguments. Whether it is called, its code says. */
function tellUses(deps: ExplainDeps, scope: ExplainScope, outermost: EditionTool, record: Record_): void {
  const looked = new Set([outermost.canonical]);
  const look = (tool: EditionTool, chain: readonly string[]): void => {
    for (const use of innerNames(tool, scope.names, null)?.tools ?? []) {
      if (looked.has(use.canonical)) continue;
      looked.add(use.canonical);
      const judgeUse = createJudge({ ...scope, chain }, use);
      for (const effect of callEffects(deps, use, sentArguments(use, {}, scope.caller), null))
        record.tell(use.canonical, effect, judgeUse(effect));
      if (use.kind === 'made') look(use, [...chain, use.canonical]);
    }
  };
  look(outermost, [outermost.canonical]);
}

async function rehearse(
  deps: ExplainDeps,
  scope: ExplainScope,
  tool: EditionTool,
  args: Record<string, unknown>,
  record: Record_,
  signal: AbortSignal,
): Promise<void> {
  const judgeOwn = createJudge(scope, tool);
  const add = (effect: Effect): void => record.add(tool.canonical, effect, judgeOwn(effect));
  const files = scope.files.overlay();
  const context: ToolContext = {
    signal,
    log: deps.log,
    files: rehearsedFiles(files, scope, add, judgeOwn),
    secret: async (name) => {
      add({ kind: 'secret', name });
      throw new Problem('forbidden', 'No secret is read while a policy is tested.');
    },
    fetch: async (request) => {
      add({ kind: 'network', host: requestHost(request.url) ?? 'unknown', method: request.method });
      throw new Problem('forbidden', 'Nothing is sent while a policy is tested.');
    },
    now: () => deps.clock.now(),
    idempotencyKey: 'policy-test',
    results: null,
    find: null,
    skills: null,
    configuration: null,
    maker: null,
    conversation: 'policy-test',
    channel: {},
    sandbox: null,
    given: null,
    tokens: null,
    calls: rehearsedCalls(deps, scope, tool, files, record),
  };
  try {
    await deps.executor.execute(tool, args, context);
  } catch {
    // A script that cannot be run does no more than was recorded until then.
  }
}

/** Every script reads; of that only what is not simply allowed is worth telling. */
function rehearsedFiles(
  files: FileOverlay,
  { rules }: ExplainScope,
  add: (effect: Effect) => void,
  judgeOwn: (effect: Effect) => Judgement,
): FileSystem {
  return guardFiles(files, {
    deep: rules.length > 0,
    mayCommit: () => false,
    change(path, effects) {
      if (files.isReadOnly?.(path) === true) return;
      for (const effect of effects()) add(effect);
    },
    read(path) {
      const effect = { kind: 'read-file', path } as const;
      if (judgeOwn(effect).verdict !== 'allow') add(effect);
    },
  });
}

function rehearsedCalls(deps: ExplainDeps, scope: ExplainScope, tool: EditionTool, files: FileSystem, record: Record_): InnerCalls {
  const { names } = scope;
  return {
    tools: innerTools(names, tool, false),
    replay: { now: deps.clock.now(), seed: 'policy-test' },
    async call(name, given, options) {
      const inner = innerTool(names, name);
      if (inner === null) return { waits: false, result: errorResult('unknown_tool', `There is no tool "${name}".`) };
      const judgeInner = createJudge({ ...scope, chain: [tool.canonical] }, inner);
      // Whatever is no object is refused before it is judged.
      const innerArgs = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
      for (const effect of callEffects(deps, inner, sentArguments(inner, innerArgs, scope.caller), options?.files ?? files))
        record.add(inner.canonical, effect, judgeInner(effect));
      return { waits: false, result: errorResult('not_allowed', 'Not run: nothing is called while a policy is tested.') };
    },
  };
}

function toldEffect(tool: string | null, effect: Effect, { verdict, reason, rule }: Judgement): Told {
  return { tool, effect, verdict, reason, rule: rule?.index ?? null };
}

function toAnswer(canonical: string | null, { verdict, ask, reason, rule }: Judgement, effects: Told[]): PolicyAnswer {
  return { canonical, verdict, kind: ask?.kind ?? null, reason, rule, effects };
}
