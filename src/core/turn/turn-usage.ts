/**
 * What a part of a turn used, folded from its events: each call of a model with its tokens, also failed and interrupted ones, and each call
 * of a tool. The log has the time of every event, so a part can be counted at any time after it, with the same result.
 */
import { addUsage, type Usage } from '../model/chat-event.ts';
import { type FinishedCall, joinToolUses, type RequestEntry, type ToolUse, toToolUse } from '../records/usage.ts';
import type { DroppedItem } from '../model/dropped.ts';
import type { SessionEvent } from './session-event.ts';

export type TurnUse = {
  calls: FinishedCall[];
  tools: ToolUse[];
  toolCalls: number;
  /** From `turn-start`; null in later parts. */
  start: { at: number; model: string; agent: string | null; toolset: string | null } | null;
  firstTokenMs: number | null;
  /** The last event. */
  at: number;
  status: RequestEntry['status'];
  code: string | null;
  dropped: readonly DroppedItem[];
};

type OpenCall = { at: number; model: string | null; usage: Usage | null };

/** `events`: of one turn, in order; `fallbackModel`: for calls whose model no event names. */
export function foldTurnUse(events: Iterable<SessionEvent>, fallbackModel: string): TurnUse {
  const use: TurnUse = {
    calls: [],
    tools: [],
    toolCalls: 0,
    start: null,
    firstTokenMs: null,
    at: 0,
    status: 'waiting',
    code: null,
    dropped: [],
  };
  const toolStarts = new Map<string, number>();
  /** How code named the tools that it called. */
  const innerNames = new Map<string, Pick<ToolUse, 'requested' | 'via'>>();
  let open: OpenCall | null = null;
  let model = fallbackModel;

  const close = (at: number, how: { failed: boolean; wasBilled: boolean; model?: string | undefined }): void => {
    if (open === null) return;
    const called = how.model ?? open.model ?? model;
    use.calls.push({
      at: open.at,
      model: called,
      durationMs: at - open.at,
      failed: how.failed,
      usage: open.usage,
      wasBilled: how.wasBilled,
    });
    open = null;
  };
  const addTool = (at: number, call: Parameters<typeof toToolUse>[1]): void => {
    use.toolCalls += 1;
    use.tools.push(toToolUse(at, call));
  };
  for (const event of events) {
    const { at } = event;
    use.at = Math.max(use.at, at);
    switch (event.type) {
      case 'turn-start':
        model = event.model;
        use.start = { at, model, agent: event.agent ?? null, toolset: event.edition?.toolset ?? null };
        break;
      case 'step-start':
        open = { at, model: null, usage: null };
        break;
      case 'step-restart':
        // Without a code, the process died during the reply, which may have been billed.
        close(at, { failed: true, wasBilled: event.code === undefined, model: event.model });
        open = { at, model: null, usage: null };
        break;
      case 'usage': {
        // Outside of a step: a summary of the conversation.
        const called = event.model ?? model;
        if (open === null) use.calls.push({ at, model: called, durationMs: 0, failed: false, usage: event.usage, wasBilled: true });
        else open = { at: open.at, model: called, usage: open.usage === null ? event.usage : addUsage(open.usage, event.usage) };
        break;
      }
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-input-start':
        if (use.start !== null) use.firstTokenMs ??= Math.max(0, at - use.start.at);
        break;
      case 'dropped':
        use.dropped = event.items;
        break;
      case 'step-end':
        close(at, { failed: false, wasBilled: true, model: event.model });
        break;
      case 'error':
        close(at, { failed: true, wasBilled: false, model: event.model });
        use.code = event.problem.code;
        break;
      case 'tool-start':
        toolStarts.set(event.callId, at);
        break;
      case 'tool-result':
        addTool(at, {
          ...{ tool: event.canonical, requested: event.name, via: event.via, failed: event.isError, cost: event.cost },
          durationMs: at - (toolStarts.get(event.callId) ?? at),
        });
        break;
      case 'inner-call':
        innerNames.set(event.callId, { requested: event.name, via: event.via });
        break;
      case 'inner-result':
        addTool(at, {
          ...{ tool: event.canonical, failed: event.isError, durationMs: event.durationMs, cost: event.cost },
          ...(innerNames.get(event.callId) ?? { requested: '', via: null }),
        });
        break;
      case 'turn-end':
        // Cancelled during the reply.
        close(at, { failed: false, wasBilled: true });
        use.status = event.status;
        use.code ??= event.reason === 'stop' ? null : event.reason;
        break;
      default:
        break;
    }
  }
  return { ...use, tools: joinToolUses(use.tools) };
}
