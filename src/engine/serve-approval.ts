/**
 * Our own question before a call, as an MCP client puts it to its person (elicitation, form mode): which tool, with what, and why it is
 * asked. The answer is a person's word only because the key may approve (`engine/serve-call.ts` looks to that).
 */
import type { Ask } from '../core/approval.ts';
import type { EditionTool } from '../core/edition.ts';
import type { InputAnswer, InputRequest } from '../core/mcp-input.ts';
import { visibleText } from '../core/visible-text.ts';
import { isRecord } from '../core/wire-value.ts';

export const approvalKey = 'approval';

/** `args`: the tool's own, secrets as names, in full: what is not shown is not approved. */
export function approvalRequest({ canonical, wireName }: EditionTool, { reason }: Ask, args: Record<string, unknown>): InputRequest {
  const message = `Allow one call of ${canonical}, named ${wireName} here?\nReason: ${reason}.\nArguments: ${JSON.stringify(args)}`;
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
            description: 'This one call, with exactly these arguments.',
            default: false,
          },
        },
        required: ['approve'],
      },
    },
  };
}

/** Whatever is not a clear yes is a no. */
export function isApproved(answer: InputAnswer | undefined): boolean {
  return answer?.action === 'accept' && isRecord(answer.content) && answer.content.approve === true;
}
