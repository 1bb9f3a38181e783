/** Runs of `HttpAgent`, the client of AG-UI, which refuses events that the protocol does not allow where they stand. Each run has an agent of its own, as after a reload. */
import { HttpAgent, type BaseEvent, type Interrupt, type Message, type RunAgentParameters } from '@ag-ui/client';

export type AgUiMessage = Message;
export type Run = {
  events: BaseEvent[];
  messages: Message[];
  outcome:
    | { type: 'success'; pendingToolCallIds: string[] }
    | { type: 'interrupt'; interrupts: Interrupt[] }
    | { type: 'cancelled' }
    | null;
  error: string | null;
  state: unknown;
};

/** `pending`: interrupts of the run before, which the client requires an answer to. */
type Input = RunAgentParameters & { messages: Message[]; pending?: Interrupt[]; state?: unknown };

export async function runAgent(
  { url, key }: { url: string; key: string },
  agent: string,
  { messages, pending = [], state = {}, ...parameters }: Input,
): Promise<Run> {
  const headers = { authorization: `Bearer ${key}` };
  const client = new HttpAgent({ url: `${url}/agui/${agent}`, headers, initialMessages: structuredClone(messages), initialState: state });
  client.pendingInterrupts = pending;
  const events: BaseEvent[] = [];
  let outcome: Run['outcome'] = null;
  let error: string | null = null;
  await client.runAgent(parameters, {
    onEvent: ({ event }) => void events.push(event),
    onRunErrorEvent: ({ event }) => {
      error = event.message;
    },
    onRunFinishedEvent: (finished) => {
      if (finished.outcome === 'success') outcome = { type: 'success', pendingToolCallIds: finished.pendingToolCallIds };
      else outcome = finished.outcome === 'interrupt' ? { type: 'interrupt', interrupts: finished.interrupts } : { type: 'cancelled' };
    },
  });
  return { events, messages: client.messages, outcome, error, state: client.state };
}

/** The interrupts of a run. */
export function interruptsOf({ outcome }: Run): Interrupt[] {
  return outcome?.type === 'interrupt' ? outcome.interrupts : [];
}

export function toolCallsOf(messages: readonly Message[]) {
  return messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
}
