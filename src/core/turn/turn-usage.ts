/**
 * What a part of a turn used, folded from its events: each call of a model with its tokens, also failed and interrupted ones, and each call
 * of a tool. The log has the time of every event, so a part can be counted at any time after it, with the same result.
 */
import { addUsage, type Usage } from '../model/chat-event.ts';
import { dayOf, type FinishedCall, type RequestEntry, type ToolUse } from '../records/usage.ts';
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
  const addTool = (at: number, tool: string | null, isError: boolean, durationMs: number): void => {
    use.toolCalls += 1;
    if (tool !== null) use.tools.push({ day: dayOf(at), tool, calls: 1, failures: isError ? 1 : 0, durationMs: Math.max(0, durationMs) });
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
        addTool(at, event.canonical, event.isError, at - (toolStarts.get(event.callId) ?? at));
        break;
      case 'inner-result':
        addTool(at, event.canonical, event.isError, event.durationMs);
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

function joinToolUses(uses: readonly ToolUse[]): ToolUse[] {
  return [...Map.groupBy(uses, ({ day, tool }) => `${day} ${tool}`).values()].flatMap((same) => {
    const [first] = same;
    const sum = (name: 'calls' | 'failures' | 'durationMs'): number => same.reduce((total, use) => total + use[name], 0);
    return first === undefined ? [] : [{ ...first, calls: sum('calls'), failures: sum('failures'), durationMs: sum('durationMs') }];
  });
}
