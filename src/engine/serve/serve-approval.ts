/**
 * Our own question before a call, as an MCP client puts it to its person (elicitation, form mode): which tool, with what, and why it is
 * asked. The answer is a person's word only because the key may approve (`engine/serve/serve-call.ts` looks to that).
 */
import type { AskedEffect, Question } from '../../core/approval.ts';
import type { EditionTool } from '../../core/edition-tool.ts';
import { canElicit, type AskableInput, type InputAnswer, type InputRequest } from '../../core/mcp-input.ts';
import { hasScope, type Principal } from '../../core/principal.ts';
import type { Refusal } from '../../core/turn-budget.ts';
import { visibleText } from '../../core/visible-text.ts';
import { isRecord } from '../../core/wire-value.ts';

export const approvalKey = 'approval';

/** `args`: the tool's own, secrets as names, in full: what is not shown is not approved. */
export function approvalRequest({ canonical, wireName }: EditionTool, question: Question, args: Record<string, unknown>): InputRequest {
  const effects = question.effectCount > 1 ? `\n${effectLines(question)}` : '';
  const message = `Allow one call of ${canonical}, named ${wireName} here?\nReason: ${question.reason}.${effects}\nArguments: ${JSON.stringify(args)}`;
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: visibleText(message),
      requestedSchema: {
        type: 'object',
        properties: {
          approve: {
            type: 'boolean',
            title: 'Allow this call',
            description: 'This one call, with exactly these arguments and effects.',
            default: false,
          },
        },
        required: ['approve'],
      },
    },
  };
}

function effectLines({ effects, effectCount }: Question): string {
  const lines = effects.map(({ action, method, target }: AskedEffect) => `- ${[method ?? action, target].filter(Boolean).join(' ')}`);
  const more = effectCount - effects.length;
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
}

/** Whatever is not a clear yes is a no. */
export function isApproved(answer: InputAnswer | undefined): boolean {
  return answer?.action === 'accept' && isRecord(answer.content) && answer.content.approve === true;
}

/** null: there is somebody to ask. */
export function approvalRefusal({ principal, askable }: { principal: Principal; askable: AskableInput }, reason: string): Refusal | null {
  if (!hasScope(principal, 'approve')) return cannotAsk(reason, 'this key lacks the scope "approve"');
  if (!canElicit(askable, 'form'))
    return cannotAsk(reason, 'this client cannot ask one (MCP elicitation). Call it in a session of Moniker');
  return null;
}

export function cannotAsk(reason: string, why: string): Refusal {
  return { code: 'approval_required', message: `Not run: ${reason}. That needs a person's approval, and ${why}.` };
}

export const deniedByPerson: Refusal = {
  code: 'denied',
  message: 'Not run: the person who was asked said no. Do not try it again in another way; ask what to do instead.',
};
