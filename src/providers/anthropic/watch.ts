/** What clients of the Messages API can read: blocks one after the other, each with its start, its deltas and its stop. */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { AnswerFrame } from '../../dialects/dialect.ts';
import { CallCount, isName, type WatchedMessage, type WatchedWire, type WireWatch } from '../relay/wire-watch.ts';

export const messagesWire: WatchedWire = {
  createWatch: () => new MessagesWatch(),
  pieceOf(body) {
    const delta = recordOf(body.delta);
    const [name = '', ...others] = Object.keys(delta).filter((member) => member !== 'type');
    const text = delta[name];
    if (body.type !== 'content_block_delta' || others.length > 0 || !pieces.has(name) || typeof text !== 'string') return null;
    return { text, isJoined: name !== 'partial_json', with: (other) => ({ ...body, delta: { ...delta, [name]: other } }) };
  },
  isRegular({ type, role, content, stop_reason: stop, usage }, events) {
    const calls = listOf(content).filter((block) => recordOf(block).type === 'tool_use');
    const isWhole = type === 'message' && role === 'assistant' && isRecord(usage) && Array.isArray(content);
    const isSame = calls.length === events.filter((event) => event.type === 'call-start').length;
    return isWhole && isSame && content.every((block) => isRecord(block) && isBlock(block)) && isStop(stop, calls.length > 0);
  },
  mend(reply, encoded) {
    const { content, stop_reason: stop, type, role } = encoded;
    const isKept = isStop(
      reply.stop_reason,
      listOf(content).some((block) => recordOf(block).type === 'tool_use'),
    );
    return { ...encoded, ...reply, type, role, content, stop_reason: isKept ? reply.stop_reason : stop };
  },
};

class MessagesWatch implements WireWatch {
  readonly #calls = new CallCount();
  #isBegun = false;
  /** The number of blocks, and the type of the open one. */
  #blocks = 0;
  #open: string | null = null;
  #stop: string | null = null;
  /** What the client has received. */
  #shown = { blocks: 0, isOpen: false };

  take({ name, body }: WatchedMessage, events: readonly ChatEvent[]): boolean {
    this.#calls.read(events);
    const type = stringOf(body?.type);
    // Clients choose by the name of the event, and by its type.
    if (body === null || type !== name) return false;
    if (type === 'error') return isRecord(body.error) && isName(body.error.message);
    return this.#isEvent(type, body) && !this.#calls.isMore();
  }

  #isEvent(type: string, body: Json): boolean {
    switch (type) {
      case 'message_start':
        return this.#isStart(recordOf(body.message));
      case 'content_block_start':
        return this.#isBlockStart(body.index, recordOf(body.content_block));
      case 'content_block_delta':
        return this.#isDelta(body.index, recordOf(body.delta));
      case 'content_block_stop': {
        const isOpen = this.#isOpen(body.index);
        this.#open = null;
        return isOpen;
      }
      case 'message_delta':
        return this.#isEnd(body);
      case 'message_stop':
        return this.#isWhole();
      default:
        return true;
    }
  }

  #isStart({ content, usage }: Json): boolean {
    const isFirst = !this.#isBegun;
    this.#isBegun = true;
    return isFirst && Array.isArray(content) && content.length === 0 && isRecord(usage);
  }

  #isBlockStart(index: unknown, block: Json): boolean {
    if (!this.#isBegun || this.#open !== null || index !== this.#blocks) return false;
    this.#blocks += 1;
    this.#open = stringOf(block.type);
    if (block.type === 'tool_use') this.#calls.begin();
    // What a start already contains, only some clients read.
    const isEmpty = !block.text && !block.thinking && (block.type !== 'tool_use' || Object.keys(recordOf(block.input)).length === 0);
    return isBlock(block) && isEmpty;
  }

  #isDelta(index: unknown, { type, partial_json: json }: Json): boolean {
    if (this.#open === 'tool_use') this.#calls.add(json);
    return this.#isOpen(index) && isName(type) && (type !== 'input_json_delta' || typeof json === 'string');
  }

  #isOpen(index: unknown): boolean {
    return this.#open !== null && index === this.#blocks - 1;
  }

  #isEnd({ delta, usage }: Json): boolean {
    const { stop_reason: stop } = recordOf(delta);
    if (isName(stop)) this.#stop = stop;
    return this.#open === null && isRecord(usage) && (stop == null || isStop(stop, this.#calls.begun > 0));
  }

  #isWhole(): boolean {
    return this.#stop !== null && this.#open === null && this.#calls.isSame();
  }

  /** A call that does not end with its block is incomplete, or will be repaired at the end of the reply. */
  isSettled(): boolean {
    return this.#stop === null && this.#calls.isSame() && (this.#open === 'tool_use' || this.#calls.hasEnded());
  }

  end(events: readonly ChatEvent[]) {
    this.#calls.read(events);
    return this.#isWhole() ? [{ event: 'message_stop', data: '{"type":"message_stop"}' }] : null;
  }

  show({ type }: Json): void {
    if (type === 'content_block_start') this.#shown = { blocks: this.#shown.blocks + 1, isOpen: true };
    else if (type === 'content_block_stop') this.#shown.isOpen = false;
  }

  align(shown: readonly AnswerFrame[]) {
    const starts = shown.filter(({ event }) => event === 'content_block_start').length;
    const isOpen = starts > shown.filter(({ event }) => event === 'content_block_stop').length;
    const { blocks } = this.#shown;
    // An open block that the encoder does not have is empty: what follows belongs to a new one.
    let isExtra = this.#shown.isOpen && !isOpen;
    let isStopped = !this.#shown.isOpen && isOpen;
    return (frame: AnswerFrame): AnswerFrame[] => {
      const { type, index, ...fields } = JSON.parse(frame.data) as Json;
      if (typeof index !== 'number') return [frame];
      const isSecond = isStopped && type === 'content_block_stop';
      const stop = isExtra
        ? [{ event: 'content_block_stop', data: JSON.stringify({ type: 'content_block_stop', index: blocks - 1 }) }]
        : [];
      isStopped &&= !isSecond;
      isExtra = false;
      return isSecond ? [] : [...stop, { ...frame, data: JSON.stringify({ type, index: index - starts + blocks, ...fields }) }];
    };
  }
}

function isBlock({ type, id, name, input }: Json): boolean {
  return isName(type) && (type !== 'tool_use' || (isName(id) && isName(name) && isRecord(input)));
}

/** Clients run calls only if the reason says that there are some. A reason that this service does not know is the provider's. */
function isStop(reason: unknown, hasCalls: boolean): boolean {
  return isName(reason) && !foreign.has(reason) && (hasCalls ? reason !== 'end_turn' && reason !== 'stop_sequence' : reason !== 'tool_use');
}

const pieces = new Set(['text', 'thinking', 'partial_json']);

/** Of OpenAI's API. */
const foreign = new Set(['stop', 'length', 'tool_calls', 'content_filter']);
