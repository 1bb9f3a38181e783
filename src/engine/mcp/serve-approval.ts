/**
 * The approval request as an MCP client shows it to its user (elicitation, form mode): the tool, its arguments, and the reason. The answer
 * counts as a decision only if the key may approve, which `engine/mcp/serve-call.ts` checks.
 */
import { approveInClient, approveInSession, newHosts, rulesToRemember, waysWithoutApproval } from '../../core/policy/approval-ways.ts';
import { type AskedEffect, type ApprovalQuestion, DecisionReason, maxDecisionReasonCharacters } from '../../core/policy/approval.ts';
import { derivedNotes, type PolicyRule } from '../../core/policy/rule.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { canElicit, type AskableInput, type InputAnswer, type InputRequest } from '../../core/tools/mcp-input.ts';
import { isAllowed } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { denialBecause, type Refusal } from '../../core/turn/turn-budget.ts';
import { showInvisible } from '../../core/text/visible-text.ts';
import { isRecord, recordOf } from '../../core/json/wire-value.ts';
import type { RememberedRules } from '../../ports/remembered-rules.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { WaitFor } from '../call/tool-call.ts';

export const approvalKey = 'approval';

/** What an approval is remembered as: `rules` in the session of the client, if its user wants that; `hosts` for the workspace. */
export type Memorable = { rules: readonly PolicyRule[]; hosts: readonly string[] };

type Caller = { principal: Principal; remembered?: RememberedRules };
/** Makes hosts known to the workspace of the key. */
export type RememberDeps = { knowHosts(principal: Principal, hosts: readonly string[]): Promise<void>; log: Logger };

/** A client carries it in its state, so it is bounded. */
const maxMemorable = 10;

export function memorableOf({ principal, remembered }: Caller, { canonical }: EditionTool, question: ApprovalQuestion): Memorable {
  const found = remembered === undefined ? null : rulesToRemember(canonical, question);
  const rules = found !== null && 'rules' in found ? found.rules : [];
  const hosts = isAllowed(principal, { act: 'waive', what: '' }) ? newHosts(question) : [];
  return { rules: rules.length > maxMemorable ? [] : rules, hosts: hosts.length > maxMemorable ? [] : hosts };
}

/** Stores what was approved. A failure is logged: the approval stands. */
export async function rememberApproval(
  { knowHosts, log }: RememberDeps,
  { principal, remembered }: Caller,
  { rules, hosts }: Memorable,
  answer: InputAnswer,
): Promise<void> {
  try {
    if (isRecord(answer.content) && answer.content.remember === true)
      remembered?.add(rules.map((rule) => ({ ...rule, note: derivedNotes.session })));
    // The rights of the key may have changed since it was asked.
    if (hosts.length > 0 && isAllowed(principal, { act: 'waive', what: '' })) await knowHosts(principal, hosts);
  } catch (error) {
    log.error('the approval of an MCP client was not remembered', { keyId: principal.keyId, hosts, cause: String(error) });
  }
}

/** `args`: the tool's own arguments in full, secrets as names, since only what is shown is approved. */
export function approvalRequest(
  { canonical, wireName }: EditionTool,
  question: ApprovalQuestion,
  args: Record<string, unknown>,
  { rules, hosts }: Memorable,
): InputRequest {
  const known = hosts.length === 0 ? '' : ` Then ${hosts.join(', ')} is known to the workspace.`;
  const effects = question.effectCount > 1 ? `\n${effectLines(question)}` : '';
  const message = `Allow one call of ${canonical}, named ${wireName} here?\nReason: ${question.reason}.${effects}\nArguments: ${JSON.stringify(args)}`;
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: showInvisible(message),
      requestedSchema: {
        type: 'object',
        properties: {
          approve: {
            type: 'boolean',
            title: 'Allow this call',
            description: showInvisible(`This one call, with exactly these arguments and effects.${known}`),
            default: false,
          },
          ...(rules.length > 0 && { remember: rememberField }),
          reason: reasonField,
        },
        required: ['approve'],
      },
    },
  };
}

const rememberField = {
  type: 'boolean',
  title: 'Do not ask again in this session',
  description: 'With the first field: the same is allowed until this session ends.',
  default: false,
};

const reasonField = {
  type: 'string',
  title: 'Reason',
  description: 'Why not. The model reads it.',
  maxLength: maxDecisionReasonCharacters,
};

function effectLines({ effects, effectCount }: ApprovalQuestion): string {
  const lines = effects.map(({ action, method, target }: AskedEffect) => `- ${[method ?? action, target].filter(Boolean).join(' ')}`);
  const more = effectCount - effects.length;
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}

/** Whether the answer is an explicit approval. */
export function isApproved(answer: InputAnswer | undefined): boolean {
  return answer?.action === 'accept' && isRecord(answer.content) && answer.content.approve === true;
}

/** Returns why the client cannot be asked; null if it can. */
export function approvalRefusal(
  { principal, askable }: { principal: Principal; askable: AskableInput },
  asked: AskedApproval,
): Refusal | null {
  if (!isAllowed(principal, { act: 'use-scope', scopes: ['approve'] }))
    return approvalUnavailable(asked, 'this key does not have the scope "approve"');
  if (!canElicit(askable, 'form')) return approvalUnavailable(asked, 'this client cannot ask for one (MCP elicitation)');
  return null;
}

type AskedApproval = { tool: EditionTool; ask: Pick<ApprovalQuestion, 'kind' | 'reason'> };

export function approvalUnavailable({ tool, ask }: AskedApproval, why: string): Refusal {
  const { offer, wireName } = tool;
  const once = offer === undefined ? approveInSession : approveInClient;
  const ways = `${once} ${waysWithoutApproval(ask, offer?.name ?? wireName)}`;
  return { code: 'approval_required', message: `Not run: ${ask.reason}. This requires a person's approval, and ${why}. ${ways}` };
}

/** Only calls of a turn wait for its client, and only those with a journal for their nested calls. */
export function cannotWait({ kind }: WaitFor): Error {
  return new Error(`a call of an MCP client waits: ${kind}`);
}

/** `answer`: absent, or not an approval. */
export function deniedByPerson(answer: InputAnswer | undefined): Refusal {
  const { success, data } = DecisionReason.safeParse(recordOf(answer?.content).reason);
  const why = success
    ? denialBecause(data)
    : 'the user denied this call. Do not try to achieve the same in another way. Ask the user what to do instead.';
  return { code: 'denied', message: `Not run: ${why}` };
}
