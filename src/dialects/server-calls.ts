/** Reads the calls of server tools from a session's log, for dialects that show them. Loaded with these dialects. */
import { oneLine } from '../core/text/paragraphs.ts';
import { toApprovalId } from '../core/text/reference.ts';
import { showInvisible } from '../core/text/visible-text.ts';
import type { SessionEvent } from '../core/turn/session-event.ts';
import type { AskedApproval, ServerCall, ServerCallChange } from './answer-message.ts';
import type { CallReader } from './dialect.ts';

/** Calls of the client's tools are left out: the message has them. Of inner calls, only those that require approval are shown. */
export function createCallReader(session: string | null): CallReader {
  const names = new Map<string, string>();
  const calls = new Map<string, ServerCall>();
  /** Calls of the current step without a result. */
  const open = new Set<string>();
  const rounds = new Map<string, number>();
  const denied = new Set<string>();

  const read = (event: SessionEvent): ServerCallChange[] => {
    switch (event.type) {
      case 'step-start':
        open.clear();
        return [];
      case 'tool-input-start':
        names.set(event.callId, event.canonical ?? event.name);
        return [];
      case 'tool-input-end': {
        const { callId, arguments: given } = event;
        const canonical = names.get(callId) ?? '';
        if (canonical.startsWith('client.')) return [];
        const call = { callId, canonical, arguments: given };
        calls.set(callId, call);
        open.add(callId);
        return [{ type: 'server-call', ...call }];
      }
      case 'step-restart': {
        const cut = [...open].flatMap((callId) => calls.get(callId) ?? []);
        open.clear();
        return cut.map((call) => ({ type: 'server-result', call, result: notMade, denied: false }));
      }
      case 'approval-required': {
        const { callId, canonical, arguments: given, round } = event;
        if (!calls.has(callId)) calls.set(callId, { callId, canonical, arguments: given });
        rounds.set(callId, round);
        return [];
      }
      case 'approval-decided': {
        const { callId, decision, reason } = event;
        const call = calls.get(callId);
        const round = rounds.get(callId);
        if (call === undefined || round === undefined || session === null) return [];
        if (decision === 'deny') denied.add(callId);
        const question = toApprovalId({ callId, round, session });
        return [{ type: 'server-decision', call, question, approved: decision === 'approve', reason }];
      }
      case 'tool-result':
      case 'inner-result': {
        const call = calls.get(event.callId);
        if (call === undefined) return [];
        open.delete(event.callId);
        const { isError, content } = event;
        const structuredContent = event.type === 'tool-result' ? event.structuredContent : undefined;
        const result = { isError, content, ...(structuredContent !== undefined && { structuredContent }) };
        return [{ type: 'server-result', call, result, denied: denied.has(event.callId) }];
      }
      default:
        return [];
    }
  };
  return (event, isShown) => {
    const changes = read(event);
    return isShown ? changes : [];
  };
}

const notMade = {
  isError: true,
  content: [{ type: 'text' as const, text: 'This call was not made: the model’s reply was interrupted, and began again.' }],
};

/** What the user is asked, in one line. */
export function approvalQuestion({ canonical, reason }: AskedApproval): string {
  return `${canonical}: ${showInvisible(oneLine(reason))}`;
}
