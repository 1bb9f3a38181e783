/**
 * Predicts whether a call will require approval or be denied, as far as that is known before it runs. Effects inside the tool are judged
 * again when they happen (`policy-guard.ts`). Used by `call-tool.ts`, dry runs and POST /v1/policy/test.
 */
import type { ApprovalReason } from '../../core/policy/approval.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { secretArguments } from '../../core/toolset/entry-arguments.ts';
import { resolvePath, workspace } from '../../core/text/path.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import { callEffect } from '../../core/policy/call-effect.ts';
import { requestHost } from '../../core/policy/host.ts';
import { withoutApproval, type PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { EffectBeforeRun } from './staged-run.ts';
import { removeEffects, writeEffect } from './file-effects.ts';
import { createEffectJudge, type JudgedScope } from './judge-effect.ts';
import type { CallDeps } from '../call/tool-call.ts';

type Arguments = Record<string, unknown>;

/** `files`: null if the files are not known yet. `args`: the tool's own arguments. */
export function predictPolicy(
  deps: Pick<CallDeps, 'isBlockedUrl'>,
  scope: JudgedScope & { files: FileSystem | null },
  tool: EditionTool,
  args: Arguments,
): PolicyDecision {
  return applyEntryApproval(tool, strictestJudgement(callEffects(deps, tool, args, scope.files), createEffectJudge(scope, tool)));
}

/** Returns what requires approval before the call runs: an entry with `approval: "always"`, and each effect the arguments imply. */
export function approvalsBeforeRun(
  deps: Pick<CallDeps, 'isBlockedUrl'>,
  scope: JudgedScope & { files: FileSystem },
  tool: EditionTool,
  args: Arguments,
): EffectBeforeRun[] {
  if (tool.approval === 'never') return [];
  const judge = createEffectJudge(scope, tool);
  const asked = callEffects(deps, tool, args, scope.files).flatMap((effect) => {
    const { ask } = judge(effect);
    return ask === null ? [] : [{ effect, ask, operation: ask, isForeseen: true }];
  });
  return tool.approval === 'always' ? [{ effect: null, ask: alwaysAsk, operation: alwaysAsk }, ...asked] : asked;
}

const alwaysAsk: ApprovalReason = { kind: 'always', reason: 'Its toolset requires approval for every call', target: null };

/** Applies the toolset entry: it may require approval always or never; what is denied stays denied. */
export function applyEntryApproval(tool: Pick<EditionTool, 'approval'>, judgement: PolicyDecision): PolicyDecision {
  if (judgement.verdict === 'deny') return judgement;
  if (tool.approval === 'never') return withoutApproval(judgement);
  if (tool.approval !== 'always') return judgement;
  return { verdict: 'ask', ask: alwaysAsk, rule: null, reason: alwaysAsk.reason };
}

/** Returns the effects of the call, as far as its arguments imply them. */
export function callEffects(deps: Pick<CallDeps, 'isBlockedUrl'>, tool: EditionTool, args: Arguments, files: FileSystem | null): Effect[] {
  const secrets = [...secretArguments(tool.arguments).values()].map((name): Effect => ({ kind: 'secret', name }));
  return [callEffect(tool), ...secrets, ...effectsByName(deps, tool.canonical, args, files)];
}

/** Returns the first judgement in this order: denied, requires approval, allowed by a rule, other. */
export function strictestJudgement(effects: readonly Effect[], judge: (effect: Effect) => PolicyDecision): PolicyDecision {
  const judged = effects.map(judge);
  const found =
    judged.find(({ verdict }) => verdict === 'deny') ??
    judged.find(({ verdict }) => verdict === 'ask') ??
    judged.find(({ rule }) => rule !== null) ??
    judged[0];
  if (found === undefined) throw new Error('there is nothing to judge');
  return found;
}

function effectsByName(deps: Pick<CallDeps, 'isBlockedUrl'>, canonical: string, args: Arguments, files: FileSystem | null): Effect[] {
  switch (canonical) {
    case 'builtin.delete_file': {
      const path = pathOf(args, files);
      if (path === null) return [];
      return files === null ? [{ kind: 'delete-file', path }] : [...removeEffects(files, path, false)];
    }
    case 'builtin.write_file': {
      const path = pathOf(args, files);
      if (path === null) return [];
      const content = new TextEncoder().encode(typeof args.content === 'string' ? args.content : '');
      return files === null ? [{ kind: 'write-file', path, change: 'create', own: true }] : writeEffect(files, path, content);
    }
    case 'builtin.edit_file': {
      const path = pathOf(args, files);
      return path === null ? [] : [{ kind: 'write-file', path, change: 'attributes', own: true }];
    }
    case 'builtin.http_request': {
      const url = typeof args.url === 'string' ? args.url : '';
      const host = requestHost(url);
      // The request would be refused anyway, so no approval is needed.
      if (host === null || deps.isBlockedUrl?.(url) === true) return [];
      return [{ kind: 'network', host, method: typeof args.method === 'string' ? args.method.toUpperCase() : 'GET' }];
    }
    default:
      return [];
  }
}

/** Returns null if the tool will refuse the path anyway. */
function pathOf(args: Arguments, files: FileSystem | null): string | null {
  if (typeof args.path !== 'string') return null;
  const resolved = resolvePath(args.path, workspace);
  return resolved.ok && files?.isReadOnly?.(resolved.path) !== true ? resolved.path : null;
}
