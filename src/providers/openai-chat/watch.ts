/** What clients of Chat Completions can read: the forms that the API reference documents and stock clients accumulate. */
import { isRecord, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { AnswerFrame } from '../../dialects/dialect.ts';
import { CallCount, isName, type WatchedMessage, type WatchedWire, type WireWatch } from '../relay/wire-watch.ts';

export const chatWire: WatchedWire = {
  createWatch: () => new ChatWatch(),
  pieceOf(body) {
    const [choice, ...others] = listOf(body.choices);
    if (!isRecord(choice) || others.length > 0 || choice.finish_reason != null) return null;
    const delta = recordOf(choice.delta);
    const [name = '', ...rest] = Object.keys(delta).filter((member) => member !== 'role' && !isEmpty(delta[member]));
    const said = rest.length > 0 ? null : name === 'tool_calls' ? callPiece(listOf(delta.tool_calls)) : textPiece(name, delta[name]);
    if (said === null) return null;
    return { ...said, with: (text) => ({ ...body, choices: [{ ...choice, delta: { ...delta, [name]: said.with(text) } }] }) };
  },
  isRegular(reply, events) {
    const [choice] = listOf(reply.choices);
    if (!isRecord(choice) || !isRecord(choice.message) || !isText(choice.message.content)) return false;
    const { tool_calls: calls, function_call: call } = choice.message;
    const ids = new Set(listOf(calls).map((one) => recordOf(one).id));
    if (ids.size < listOf(calls).length || !listOf(calls).every(isWholeCall)) return false;
    const count = call == null ? listOf(calls).length : 1;
    return count === startsOf(events) && isFinish(choice.finish_reason, count > 0);
  },
  mend(reply, encoded) {
    const [first, ...others] = listOf(reply.choices);
    const mended = recordOf(listOf(encoded.choices)[0]);
    const { content, tool_calls, ...message } = recordOf(mended.message);
    // A list of parts, or a call in another form, is what was mended.
    const { content: _content, tool_calls: _calls, function_call: _call, ...own } = recordOf(recordOf(first).message);
    const calls = tool_calls === undefined ? {} : { tool_calls };
    const choice = {
      ...mended,
      ...recordOf(first),
      message: { ...message, ...own, content, ...calls },
      finish_reason: mended.finish_reason,
    };
    return { ...encoded, ...reply, choices: [choice, ...others] };
  },
};

class ChatWatch implements WireWatch {
  readonly #calls = new CallCount();
  readonly #ids = new Set<unknown>();
  #isLegacy = false;
  #finish = '';

  take({ data, body }: WatchedMessage, events: readonly ChatEvent[]): boolean {
    this.#calls.read(events);
    if (body === null) return data.trim() === '[DONE]' && this.#isWhole(events);
    if (body.error != null) return isRecord(body.error) && isName(body.error.message);
    if (!Array.isArray(body.choices)) return events.length === 0;
    const isAfterEnd = this.#finish !== '' && events.some(({ type }) => type !== 'usage');
    return !isAfterEnd && body.choices.every((choice) => this.#isChoice(choice)) && !this.#calls.isMore();
  }

  /** Only the first choice is read. */
  #isChoice(choice: unknown): boolean {
    if (!isRecord(choice)) return false;
    if ((choice.index ?? 0) !== 0) return true;
    const { delta, finish_reason: finish } = choice;
    if (!isRecord(delta) || !isText(delta.content)) return false;
    if (!listOf(delta.tool_calls).every((call) => this.#isCall(call)) || !this.#isFunctionCall(delta.function_call)) return false;
    if (!isName(finish)) return true;
    this.#finish = finish;
    return isFinish(finish, this.#calls.begun > 0);
  }

  /** A call has its id, type and name once, at first, and pieces of text. */
  #isCall(call: unknown): boolean {
    if (!isRecord(call) || !Number.isInteger(call.index)) return false;
    const { id, type } = call;
    const { name, arguments: args, input } = recordOf(call.function ?? call.custom);
    const text = args ?? input;
    if (text != null && typeof text !== 'string') return false;
    this.#calls.add(text);
    if (call.index !== this.#calls.begun)
      return (call.index as number) < this.#calls.begun && (call.index as number) >= 0 && id == null && name == null;
    this.#calls.begin();
    const isNew = isName(id) && !this.#ids.has(id);
    this.#ids.add(id);
    return isNew && isName(name) && (type === 'function' || type === 'custom');
  }

  /** The deprecated form, of the only call. */
  #isFunctionCall(call: unknown): boolean {
    if (call == null) return true;
    const { name, arguments: args } = recordOf(call);
    if (args != null && typeof args !== 'string') return false;
    this.#calls.add(args);
    if (this.#isLegacy) return name == null;
    this.#isLegacy = true;
    this.#calls.begin();
    return isName(name) && this.#calls.begun === 1;
  }

  #isWhole(events: readonly ChatEvent[]): boolean {
    const last = events.at(-1);
    // The provider says elsewhere that a limit was reached.
    const isCut = last?.type === 'finish' && last.reason === 'length' && (ofCalls.has(this.#finish) || this.#finish === 'stop');
    return this.#finish !== '' && !isCut && this.#calls.isSame() && !this.#calls.hasEmpty();
  }

  isSettled(): boolean {
    return this.#finish === '' && this.#calls.isSame();
  }

  end(events: readonly ChatEvent[]) {
    this.#calls.read(events);
    return this.#isWhole(events) ? [{ data: '[DONE]' }] : null;
  }

  show(): void {
    // Chunks have no numbers.
  }

  align() {
    return (frame: AnswerFrame): readonly AnswerFrame[] => [frame];
  }
}

type Said = { text: string; isJoined: boolean; with(text: string): unknown };

function textPiece(name: string, text: unknown): Said | null {
  return textMembers.has(name) && typeof text === 'string' ? { text, isJoined: true, with: (other) => other } : null;
}

const textMembers = new Set(['content', 'reasoning_content', 'reasoning', 'reasoning_text']);

/** Arguments of a call that has begun, and nothing else. */
function callPiece([call, ...others]: readonly unknown[]): Said | null {
  if (!isRecord(call) || others.length > 0 || !Number.isInteger(call.index)) return null;
  const { function: called, index: _index, type: _type, ...rest } = call;
  const { arguments: text, ...named } = recordOf(called);
  if (typeof text !== 'string' || ![...Object.values(rest), ...Object.values(named)].every(isEmpty)) return null;
  return { text, isJoined: false, with: (other) => [{ ...call, function: { ...recordOf(called), arguments: other } }] };
}

function isEmpty(value: unknown): boolean {
  return value == null || value === '' || (Array.isArray(value) && value.length === 0);
}

function isText(content: unknown): boolean {
  return content == null || typeof content === 'string';
}

function isWholeCall(call: unknown): boolean {
  const { id, type, function: called, custom } = recordOf(call);
  if (type === 'custom') return isName(id) && isName(recordOf(custom).name) && typeof recordOf(custom).input === 'string';
  const { name, arguments: args } = recordOf(called);
  return isName(id) && type === 'function' && isName(name) && isRecord(tryParse(stringOf(args)));
}

function startsOf(events: readonly ChatEvent[]): number {
  return events.filter(({ type }) => type === 'call-start').length;
}

/** Clients run calls only if the reason says that there are some. A reason that this service does not know is the provider's. */
function isFinish(reason: unknown, hasCalls: boolean): boolean {
  return hasCalls ? callReasons.has(reason) : isName(reason) && !ofCalls.has(reason);
}

const ofCalls = new Set<unknown>(['tool_calls', 'function_call']);
const callReasons = new Set<unknown>([...ofCalls, 'length', 'content_filter']);
