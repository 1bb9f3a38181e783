/**
 * Judges a call by the policy, as far as its effects are known before it runs. Effects inside the tool are judged when they happen
 * (`policy-guard.ts`). Used by `execute-call.ts`, dry runs and POST /v1/policy/test.
 */
import type { ApprovalReason } from '../../core/policy/approval.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { secretArguments } from '../../core/toolset/arguments/entry-arguments.ts';
import { resolvePath, workspace } from '../../core/text/path.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import { callEffect } from '../../core/policy/effects/call.ts';
import { requestHost } from '../../core/policy/host.ts';
import { evaluatePolicy, withoutApproval, type PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { EffectBeforeRun } from './staged-run.ts';
import { removeEffects, writeEffect } from './file-effects.ts';
import { taintFor } from './mark-taint.ts';
import type { CallDeps, PolicyScope } from '../call/call-scope.ts';

type Arguments = Record<string, unknown>;

/** `asks`: what requires approval before the call runs. */
export type JudgedCall = { decision: PolicyDecision; asks: EffectBeforeRun[] };

/** Judges a call by its toolset entry and the effects that its arguments imply. `files`: null if they are not known yet. `args`: the tool's own. */
export function judgeCall(
  deps: Pick<CallDeps, 'isBlockedUrl'>,
  scope: PolicyScope & { files: FileSystem | null },
  tool: EditionTool,
  args: Arguments,
): JudgedCall {
  const judge = createEffectJudge(scope, tool);
  const judged = callEffects(deps, tool, args, scope.files).map((effect) => ({ effect, ...judge(effect) }));
  const decision = applyEntryApproval(tool, strictestJudgement(judged));
  if (tool.approval === 'never') return { decision, asks: [] };
  const asks = judged.flatMap(({ effect, ask }) => (ask === null ? [] : [{ effect, ask, operation: ask, isPredicted: true }]));
  return { decision, asks: tool.approval === 'always' ? [{ effect: null, ask: alwaysAsk, operation: alwaysAsk }, ...asks] : asks };
}

/**
 * A destructive call that stood in the text of a reply may be one that the model only quoted: what allows such calls without approval
 * (the entry's `approval: "never"`, allow rules) does not apply to it.
 */
export function withoutAllowances<Scope extends Pick<PolicyScope, 'rules'>>(
  scope: Scope,
  tool: EditionTool,
): { scope: Scope; tool: EditionTool } {
  if (tool.annotations?.destructiveHint !== true) return { scope, tool };
  const { approval, ...others } = tool;
  const rules = scope.rules.filter(({ decision }) => decision !== 'allow');
  return { scope: { ...scope, rules }, tool: approval === 'never' ? others : tool };
}

const alwaysAsk: ApprovalReason = { kind: 'always', reason: 'Its toolset requires approval for every call', target: null };

/** Returns how the policy judges an effect of a tool, wherever a call reaches a capability. The taint marks are read for each effect. */
export function createEffectJudge(scope: PolicyScope, tool: EditionTool): (effect: Effect) => PolicyDecision {
  const actor = {
    tool: tool.canonical,
    agent: scope.agent ?? null,
    key: scope.keyId,
    ...(scope.chain !== undefined && { chain: scope.chain }),
  };
  const taintRule = scope.taintRule === true;
  return (effect) => {
    const taint = scope.taintRule === false ? null : taintFor(scope.taint, tool, effect);
    return evaluatePolicy(scope.rules, effect, { actor, taint, taintRule });
  };
}

/** Applies the toolset entry: it may require approval always or never; what is denied stays denied. */
export function applyEntryApproval(tool: Pick<EditionTool, 'approval'>, judgement: PolicyDecision): PolicyDecision {
  if (judgement.verdict === 'deny') return judgement;
  if (tool.approval === 'never') return withoutApproval(judgement);
  if (tool.approval !== 'always') return judgement;
  return { verdict: 'ask', ask: alwaysAsk, rule: null, reason: alwaysAsk.reason };
}

/** Returns the effects of the call, as far as its arguments imply them. */
export function callEffects(deps: Pick<CallDeps, 'isBlockedUrl'>, tool: EditionTool, args: Arguments, files: FileSystem | null): Effect[] {
  const { offer } = tool;
  if (offer !== undefined) return [{ kind: offer.kind, name: offer.name, trusted: tool.trusted === true }];
  const ownEffects = isJudgedByArguments(tool) ? effectsByTool[tool.canonical] : undefined;
  const secrets = [...secretArguments(tool.arguments).values()].map((name): Effect => ({ kind: 'secret', name }));
  return [callEffect(tool), ...secrets, ...(ownEffects?.(deps, args, files) ?? [])];
}

/** Returns the first judgement in this order: denied, requires approval, allowed by a rule, other. */
function strictestJudgement(judged: readonly PolicyDecision[]): PolicyDecision {
  const found =
    judged.find(({ verdict }) => verdict === 'deny') ??
    judged.find(({ verdict }) => verdict === 'ask') ??
    judged.find(({ rule }) => rule !== null) ??
    judged[0];
  if (found === undefined) throw new Error('there is nothing to judge');
  return found;
}

type EffectsOf = (deps: Pick<CallDeps, 'isBlockedUrl'>, args: Arguments, files: FileSystem | null) => Effect[];

/** The tools whose arguments imply effects. */
const effectsByTool: Readonly<Record<string, EffectsOf>> = {
  'builtin.delete_file'(_deps, args, files) {
    const path = pathOf(args, files);
    if (path === null) return [];
    return files === null ? [{ kind: 'delete-file', path }] : [...removeEffects(files, path, false)];
  },
  'builtin.write_file'(_deps, args, files) {
    const path = pathOf(args, files);
    if (path === null) return [];
    const content = new TextEncoder().encode(typeof args.content === 'string' ? args.content : '');
    return files === null ? [{ kind: 'write-file', path, change: 'create', own: true }] : writeEffect(files, path, content);
  },
  'builtin.edit_file'(_deps, args, files) {
    const path = pathOf(args, files);
    return path === null ? [] : [{ kind: 'write-file', path, change: 'attributes', own: true }];
  },
  'builtin.http_request'(deps, args) {
    const url = typeof args.url === 'string' ? args.url : '';
    const host = requestHost(url);
    // The request would be refused anyway, so no approval is needed.
    if (host === null || deps.isBlockedUrl?.(url) === true) return [];
    return [{ kind: 'network', host, method: typeof args.method === 'string' ? args.method.toUpperCase() : 'GET' }];
  },
};

/** Whether the decision on a call depends on its arguments. */
export function isJudgedByArguments({ canonical }: Pick<EditionTool, 'canonical'>): boolean {
  return Object.hasOwn(effectsByTool, canonical);
}

/** Returns null if the tool will refuse the path anyway. */
function pathOf(args: Arguments, files: FileSystem | null): string | null {
  if (typeof args.path !== 'string') return null;
  const resolved = resolvePath(args.path, workspace);
  return resolved.ok && files?.isReadOnly?.(resolved.path) !== true ? resolved.path : null;
}
