/**
 * Returns what the policy decides about a call or an effect, without executing it (POST /v1/policy/test). A shell script runs on files that
 * are discarded: its changes to them are real, while its requests and calls are only listed.
 */
import { findTool, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { limits } from '../../core/limits/limits.ts';
import type { PolicyAnswer } from '../../core/policy/explain.ts';
import { requestHost } from '../../core/policy/host.ts';
import { evaluatePolicy, type PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import { Problem, type Issue } from '../../core/problem.ts';
import { errorResult } from '../../core/tools/tool.ts';
import type { FileOverlay, FileSystem } from '../../ports/file-system.ts';
import type { InnerCalls } from '../../ports/inner-calls.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { prepareArguments } from '../call/prepare-call.ts';
import { applyEntryApproval, callEffects, createEffectJudge } from './judge-call.ts';
import { guardFiles } from './guard-files.ts';
import { innerNames, innerTools } from '../call/inner/inner-names.ts';
import type { CallDeps, CallerScope, PolicyScope } from '../call/call-scope.ts';

/** `isScratch`: the files are empty and belong to no session. */
export type ExplainScope = PolicyScope & Pick<CallerScope, 'caller'> & { files: FileSystem; isScratch?: boolean; names: AliasMap | null };
type ExplainDeps = Pick<CallDeps, 'executor' | 'log' | 'clock' | 'isBlockedUrl'>;

/** `tool`: the tool that would have the effect; null: none that a rule could match. */
export function explainEffect(scope: PolicyScope, effect: Effect, tool: string | null): PolicyAnswer {
  const actor = { tool: tool ?? '', agent: scope.agent ?? null, key: scope.keyId };
  const judged = evaluatePolicy(scope.rules, effect, { actor, taint: null });
  return toAnswer(tool, judged, [listedEffect(tool, effect, judged)]);
}

export async function explainCall(
  deps: ExplainDeps,
  scope: ExplainScope,
  tool: EditionTool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<PolicyAnswer> {
  const { own, issues } = prepareArguments(tool, args, scope.caller);
  const record = createRecorder();
  const judgeOwn = createEffectJudge(scope, tool);
  for (const effect of callEffects(deps, tool, own, scope.isScratch === true ? null : scope.files))
    record.add(tool.canonical, effect, judgeOwn(effect));
  if (tool.canonical === 'builtin.bash') await rehearse(deps, scope, tool, own, record, signal);
  if (tool.kind === 'made') listUses(deps, scope, tool, record);
  const notes = notesOn(scope, tool, issues);
  return { ...toAnswer(tool.canonical, applyEntryApproval(tool, record.worst()), record.effects()), ...(notes.length > 0 && { notes }) };
}

/** Notes that say what the verdict does not cover. */
function notesOn({ isScratch }: ExplainScope, tool: EditionTool, issues: readonly Issue[]): string[] {
  const { canonical, made } = tool;
  const notes: string[] = [];
  if (issues.length > 0) {
    const shown = issues.slice(0, limits.maxReportedWarnings).map(({ path, message }) => `${path === '' ? 'arguments' : path}: ${message}`);
    notes.push(`The call would be rejected, since its arguments are not valid (${shown.join('; ')}).`);
  }
  if (made !== undefined || canonical === 'builtin.run_code') {
    const which = made === undefined ? '' : `: ${made.uses.map((use) => use.canonical).join(', ') || 'it calls none'}`;
    notes.push(`Each call that its code makes is judged separately when it is made${which}.`);
  }
  if (isScratch === true && changesFiles.has(canonical))
    notes.push('Judged on an empty file system. To judge it on the files of a session, send `toolset` and `session`.');
  return notes;
}

/** For these the notes mention missing files. A file that is to be deleted is assumed to exist. */
const changesFiles: ReadonlySet<string> = new Set(['bash', 'write_file', 'edit_file'].map((name) => `builtin.${name}`));

type ListedEffect = PolicyAnswer['effects'][number];
/** `add`: counts for the verdict and is listed. `list`: is only listed. */
type Recorder = Record<'add' | 'list', (tool: string, effect: Effect, judged: PolicyDecision) => void> & {
  worst(): PolicyDecision;
  effects(): ListedEffect[];
};

function createRecorder(): Recorder {
  const effects: ListedEffect[] = [];
  const known = new Set<string>();
  let worst: PolicyDecision | null = null;
  const list: Recorder['list'] = (tool, effect, judged) => {
    if (effects.length >= limits.maxListedPolicyEffects) return;
    const text = JSON.stringify([tool, effect]);
    if (known.has(text)) return;
    known.add(text);
    effects.push(listedEffect(tool, effect, judged));
  };
  return {
    list,
    add(tool, effect, judged) {
      if (worst === null || rank(judged) > rank(worst)) worst = judged;
      list(tool, effect, judged);
    },
    worst() {
      if (worst === null) throw new Error('nothing was judged');
      return worst;
    },
    effects: () => effects,
  };
}

/** Order: deny, ask, allowed by a rule, other. */
function rank({ verdict, rule }: PolicyDecision): number {
  return { deny: 3, ask: 2, allow: rule === null ? 0 : 1 }[verdict];
}

/** Lists the effects of the tools that a made tool may call, recursively, as far as they are known without arguments. Only its code decides which it calls. */
function listUses(deps: ExplainDeps, scope: ExplainScope, outermost: EditionTool, record: Recorder): void {
  const looked = new Set([outermost.canonical]);
  const look = (tool: EditionTool, chain: readonly string[]): void => {
    for (const use of innerNames(tool, scope.names, null)?.tools ?? []) {
      if (looked.has(use.canonical)) continue;
      looked.add(use.canonical);
      const judgeUse = createEffectJudge({ ...scope, chain }, use);
      for (const effect of callEffects(deps, use, prepareArguments(use, {}, scope.caller).own, null))
        record.list(use.canonical, effect, judgeUse(effect));
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
  record: Recorder,
  signal: AbortSignal,
): Promise<void> {
  const judgeOwn = createEffectJudge(scope, tool);
  const add = (effect: Effect): void => record.add(tool.canonical, effect, judgeOwn(effect));
  const files = scope.files.overlay();
  const context: ToolContext = {
    signal,
    log: deps.log,
    files: rehearsedFiles(files, scope, add, judgeOwn),
    secret: async (name) => {
      add({ kind: 'secret', name });
      throw new Problem('forbidden', 'Secrets are not read in a policy test.');
    },
    fetch: async (request) => {
      add({ kind: 'network', host: requestHost(request.url) ?? 'unknown', method: request.method });
      throw new Problem('forbidden', 'Requests are not sent in a policy test.');
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
    // If the script fails, the effects recorded so far are all it has.
  }
}

/** Lists reads only where they are not simply allowed, since every script reads files. */
function rehearsedFiles(
  files: FileOverlay,
  { rules }: ExplainScope,
  add: (effect: Effect) => void,
  judgeOwn: (effect: Effect) => PolicyDecision,
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

function rehearsedCalls(deps: ExplainDeps, scope: ExplainScope, tool: EditionTool, files: FileSystem, record: Recorder): InnerCalls {
  const { names } = scope;
  return {
    tools: innerTools(names, tool, false),
    replay: { now: deps.clock.now(), seed: 'policy-test' },
    async call(name, given, options) {
      const inner = findTool(names, name);
      if (inner === null) return { waits: false, result: errorResult('unknown_tool', `There is no tool "${name}".`) };
      const judgeInner = createEffectJudge({ ...scope, chain: [tool.canonical] }, inner);
      // Arguments that are not an object would be rejected before the policy is checked.
      const innerArgs = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
      for (const effect of callEffects(deps, inner, prepareArguments(inner, innerArgs, scope.caller).own, options?.files ?? files))
        record.add(inner.canonical, effect, judgeInner(effect));
      return { waits: false, result: errorResult('not_allowed', 'Not run: tools are not called in a policy test.') };
    },
  };
}

function listedEffect(tool: string | null, effect: Effect, { verdict, reason, rule }: PolicyDecision): ListedEffect {
  return { tool, effect, verdict, reason, rule: rule?.index ?? null };
}

function toAnswer(canonical: string | null, { verdict, ask, reason, rule }: PolicyDecision, effects: ListedEffect[]): PolicyAnswer {
  return { canonical, verdict, kind: ask?.kind ?? null, reason, rule, effects };
}
