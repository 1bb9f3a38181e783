/** Spans of turns and tool calls, with the attributes of OpenTelemetry's GenAI conventions. */
import { readTraceContext, type TraceCarrier } from '../../core/telemetry/trace-context.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { PreparedCall } from '../call/prepare-call.ts';
import type { CallOutcome } from '../call/tool-call.ts';
import type { Plan } from '../../core/turn/plan.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';
import type { TurnState } from '../../core/turn/turn-state.ts';

type ObservedTurn = {
  turn: string;
  plan: Plan;
  state: TurnState;
  call: { session: string | null };
  append(...events: readonly SessionEventBody[]): void;
};

/** A run of a turn: a child of the request that started the turn, also when the turn resumes after a wait or a crash. */
export async function observeTurn<Scope extends ObservedTurn, Outcome extends string>(
  telemetry: Telemetry,
  scope: Scope,
  run: (scope: Scope) => Promise<Outcome>,
): Promise<Outcome> {
  const { turn, plan, state, call } = scope;
  const { agent, model, trace } = plan;
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'gen_ai.request.model': model,
    'gen_ai.conversation.id': call.session ?? undefined,
    'moniker.turn': turn,
  };
  const name = `invoke_agent ${agent ?? model}`;
  const start = { name, kind: 'internal', attributes, parent: contextOf(trace) } as const;
  return await telemetry.during(start, async (span) => {
    const append = (...events: readonly SessionEventBody[]): void => {
      for (const event of events) {
        if (event.type === 'error') span.fail(event.problem.code);
        if (event.type === 'turn-end') span.set('moniker.turn.status', event.status);
      }
      scope.append(...events);
    };
    const outcome = await run({ ...scope, append });
    span.set('moniker.turn.outcome', outcome);
    span.set('gen_ai.usage.input_tokens', state.usage.inputTokens);
    span.set('gen_ai.usage.output_tokens', state.usage.outputTokens);
    if (outcome === 'aborted') span.fail('aborted');
    return outcome;
  });
}

/** A tool call, nested ones included. `trace`: for calls in a session outside of turns, the request that made the call. */
export async function observeCall(
  telemetry: Telemetry,
  { canonical: entry, request, own, via, tool }: PreparedCall,
  { trace, session }: { trace?: TraceCarrier | undefined; session: string | null },
  call: () => Promise<CallOutcome>,
): Promise<CallOutcome> {
  const canonical = tool?.canonical ?? entry;
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': canonical ?? 'unknown',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': request.callId,
    'gen_ai.conversation.id': session ?? undefined,
    // URIs of resources may contain personal data.
    'moniker.tool.requested': tool?.offer === undefined ? request.requested : undefined,
    'moniker.tool.via': via ?? undefined,
  };
  const parent = telemetry.carrier() === null ? contextOf(trace) : null;
  const start = { name: `execute_tool ${canonical ?? 'unknown'}`, kind: 'internal', attributes, parent } as const;
  return await telemetry.during(start, async (span) => {
    span.setContent('gen_ai.tool.call.arguments', () => own);
    const outcome = await call();
    if ('waitFor' in outcome) {
      span.set('moniker.tool.verdict', `waiting`);
      return outcome;
    }
    const { ran, result } = outcome.answer;
    span.set('moniker.tool.verdict', ran ? 'ran' : 'refused');
    span.setContent('gen_ai.tool.call.result', () => result.content);
    if (result.isError) span.fail(result.code ?? 'tool_error');
    return outcome;
  });
}

function contextOf(trace: TraceCarrier | undefined) {
  return trace === undefined ? null : readTraceContext(trace.traceparent, trace.tracestate);
}
