/**
 * Builds the `output` of a Response: items from the changes of the neutral message, and the events for them. The stream and the document
 * use the same code, so they agree. `dialect.ts` adds the lifecycle events and the Response object. Wire: OpenAI API reference,
 * "Responses: streaming events" (SDK 7.57).
 */
import { packNative } from '../../core/model/native-token.ts';
import { type Citation, shiftCitations, toUrlCitation } from '../../core/model/citation.ts';
import type { NativePart } from '../../core/model/message.ts';
import { recordOf, tryParse } from '../../core/json/wire-value.ts';
import type { AnswerCall, AskedApproval, MadeImage, MessageChange, ShownSearch } from '../answer-message.ts';
import { shownSearchPrefix } from './issued.ts';
import { toCallItem } from './item-tools.ts';
import type { ReadEcho } from './echo.ts';

export type OutputItem = { type: string; id: string; [field: string]: unknown };

/** `fields`: the members of the event besides its type and number, as JSON text. */
export type EmitEvent = (type: string, fields: string) => void;

export type OutputOptions = {
  /** The base of the item ids. */
  unique: string;
  /** Names of the client's free-text tools. Models that only support functions call them with `{"input": …}`. */
  custom: ReadEcho['custom'];
  items: ReadEcho['items'];
  spaces: ReadEcho['spaces'];
  /** Provider data keeps the provider's form instead of a token (`AnswerIdentity.isOwnWire`). */
  isOwnWire: boolean;
  emit: EmitEvent;
};

export type ItemStatus = 'completed' | 'incomplete';

type TextPart = { type: 'output_text'; text: string; annotations: unknown[]; logprobs: never[] } | { type: 'refusal'; refusal: string };
type MessageItem = OutputItem & { status: string; content: TextPart[] };
type ReasoningItem = OutputItem & { summary: { type: 'summary_text'; text: string }[] };

/** `head`: the prefix of all deltas of the part. */
type Place = { index: number; head: string };
type Open =
  | { kind: 'message'; index: number; item: MessageItem; part: (Place & { value: TextPart }) | null }
  | { kind: 'reasoning'; index: number; item: ReasoningItem; part: Place };

/** `field`: the item's text field. `holds`: the input is sent at the end, because it is inside JSON until then. */
type OpenCall = Place & { item: OutputItem; event: string; field: 'arguments' | 'input'; holds: boolean };

export function createOutput({ unique, custom, items: itemTools, spaces, isOwnWire, emit }: OutputOptions) {
  const items: OutputItem[] = [];
  const calls = new Map<number, OpenCall>();
  let open: Open | null = null;
  /** The characters of text before the open part. */
  let before = 0;

  const idOf = (prefix: string): string => `${prefix}_${unique}_${items.length}`;
  const add = (item: OutputItem): number => {
    const index = items.length;
    items.push(item);
    emit('response.output_item.added', `"output_index":${index},"item":${JSON.stringify(item)}`);
    return index;
  };
  const end = (index: number, item: OutputItem): void => {
    items[index] = item;
    emit('response.output_item.done', `"output_index":${index},"item":${JSON.stringify(item)}`);
  };

  // ---- Messages and reasoning: one is open at a time ----

  const endPart = (message: Extract<Open, { kind: 'message' }>): void => {
    if (message.part === null) return;
    const { head, value } = message.part;
    if (value.type === 'refusal') emit('response.refusal.done', `${head}"refusal":${JSON.stringify(value.refusal)}`);
    else emit('response.output_text.done', `${head}"text":${JSON.stringify(value.text)},"logprobs":[]`);
    emit('response.content_part.done', `${head}"part":${JSON.stringify(value)}`);
    if (value.type === 'output_text') before += value.text.length;
    message.part = null;
  };
  const endSummary = ({ item, part }: Extract<Open, { kind: 'reasoning' }>): void => {
    const [summary] = item.summary;
    emit('response.reasoning_summary_text.done', `${part.head}"text":${JSON.stringify(summary?.text ?? '')}`);
    emit('response.reasoning_summary_part.done', `${part.head}"part":${JSON.stringify(summary)}`);
  };
  const close = (status: ItemStatus = 'completed', extra: Record<string, unknown> = {}): void => {
    const closing = open;
    open = null;
    if (closing === null) return;
    if (closing.kind === 'reasoning') {
      endSummary(closing);
      end(closing.index, { ...closing.item, ...extra });
    } else {
      endPart(closing);
      end(closing.index, { ...closing.item, status });
    }
  };
  const say = (type: TextPart['type'], text: string): void => {
    if (open?.kind !== 'message') {
      close();
      const item: MessageItem = { type: 'message', id: idOf('msg'), status: 'in_progress', role: 'assistant', content: [] };
      open = { kind: 'message', index: add(item), item, part: null };
    }
    if (open.part?.value.type !== type) {
      endPart(open);
      const value: TextPart = type === 'refusal' ? { type, refusal: '' } : { type, text: '', annotations: [], logprobs: [] };
      const { index, item } = open;
      const head = `"item_id":${JSON.stringify(item.id)},"output_index":${index},"content_index":${item.content.length},`;
      emit('response.content_part.added', `${head}"part":${JSON.stringify(value)}`);
      item.content.push(value);
      open.part = { index, head, value };
    }
    const { head, value } = open.part;
    if (value.type === 'refusal') value.refusal += text;
    else value.text += text;
    const logprobs = type === 'refusal' ? '' : ',"logprobs":[]';
    emit(`response.${type}.delta`, `${head}"delta":${JSON.stringify(text)}${logprobs}`);
  };
  const cite = (citations: readonly Citation[]): void => {
    if (open?.kind !== 'message' || open.part?.value.type !== 'output_text') return;
    const { head, value } = open.part;
    for (const citation of shiftCitations(citations, -before)) {
      const annotation = { type: 'url_citation', ...toUrlCitation(citation, value.text.length) };
      const fields = `"annotation_index":${value.annotations.length},"annotation":${JSON.stringify(annotation)}`;
      emit('response.output_text.annotation.added', head + fields);
      value.annotations.push(annotation);
    }
  };
  /** On its own wire an item keeps its id, because the provider's encrypted content is bound to it. */
  const think = (text: string, nativeId?: string): void => {
    if (open?.kind !== 'reasoning' || nativeId !== undefined) {
      close();
      const item: ReasoningItem = { type: 'reasoning', id: (isOwnWire ? nativeId : undefined) ?? idOf('rs'), summary: [] };
      const index = add(item);
      const head = `"item_id":${JSON.stringify(item.id)},"output_index":${index},"summary_index":0,`;
      item.summary.push({ type: 'summary_text', text: '' });
      emit('response.reasoning_summary_part.added', `${head}"part":${JSON.stringify(item.summary[0])}`);
      open = { kind: 'reasoning', index, item, part: { index, head } };
    }
    const [summary] = open.item.summary;
    if (summary !== undefined) summary.text += text;
    emit('response.reasoning_summary_text.delta', `${open.part.head}"delta":${JSON.stringify(text)}`);
  };

  // ---- Calls: several may be open and interleave ----

  const startCall = (call: AnswerCall): void => {
    close();
    // Begins at its end: the arguments decide on its type.
    if (itemTools.has(call.name)) return;
    const isCustom = call.custom || custom.has(call.name);
    const named = { call_id: call.id, ...(spaces.get(call.name) ?? { name: call.name }) };
    const item: OutputItem = isCustom
      ? { type: 'custom_tool_call', id: idOf('ctc'), ...named, input: '' }
      : { type: 'function_call', id: idOf('fc'), ...named, arguments: '', status: 'in_progress' };
    const index = add(item);
    const head = `"item_id":${JSON.stringify(item.id)},"output_index":${index},`;
    const event = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
    calls.set(call.index, { index, head, item, event, field: isCustom ? 'input' : 'arguments', holds: isCustom && !call.custom });
  };
  const write = (call: OpenCall, text: string): void => {
    call.item[call.field] = `${call.item[call.field]}${text}`;
    emit(`${call.event}.delta`, `${call.head}"delta":${JSON.stringify(text)}`);
  };
  const callDelta = ({ index }: AnswerCall, text: string): void => {
    const call = calls.get(index);
    if (call !== undefined && !call.holds) write(call, text);
  };
  /** Of arguments that do not fit the tool, the client reports to the model that there is no such function. */
  const addItemCall = (call: AnswerCall): void => {
    const item = call.isCut ? null : toCallItem(call.name, tryParse(call.text));
    const shown = item ?? { type: 'function_call', name: call.name, arguments: call.text };
    const whole = { id: idOf('item'), call_id: call.id, ...shown, status: call.isCut ? 'incomplete' : 'completed' };
    end(add({ ...whole, status: 'in_progress' }), whole);
  };
  const endCall = (ended: AnswerCall): void => {
    if (itemTools.has(ended.name)) {
      addItemCall(ended);
      return;
    }
    const { index, text, isCut } = ended;
    const call = calls.get(index);
    if (call === undefined) return;
    if (call.holds) write(call, inputOf(text));
    calls.delete(index);
    emit(`${call.event}.done`, `${call.head}${JSON.stringify(call.field)}:${JSON.stringify(call.item[call.field])}`);
    end(call.index, call.field === 'input' ? call.item : { ...call.item, status: isCut ? 'incomplete' : 'completed' });
  };

  /** On its own wire, the provider's item has the image. */
  const show = ({ mediaType, data }: MadeImage): void => {
    if (isOwnWire) return;
    close();
    const format = mediaType.replace(/^image\//, '');
    const item: OutputItem = { type: 'image_generation_call', id: idOf('ig'), status: 'in_progress', result: null };
    end(add(item), { ...item, status: 'completed', output_format: format, result: data });
  };

  /** On its own wire, the provider's item is the search. */
  const showSearch = ({ queries, sources, failed }: ShownSearch): void => {
    if (isOwnWire) return;
    close();
    const found = sources.map(({ url }) => ({ type: 'url', url }));
    const action = { type: 'search', query: queries[0], queries, ...(found.length > 0 && { sources: found }) };
    const item: OutputItem = { type: 'web_search_call', id: idOf(shownSearchPrefix), status: 'in_progress', action };
    const index = add(item);
    const place = `"output_index":${index},"item_id":${JSON.stringify(item.id)}`;
    for (const state of ['in_progress', 'searching', 'completed']) emit(`response.web_search_call.${state}`, place);
    end(index, { ...item, status: failed ? 'failed' : 'completed' });
  };

  /** This service stands for the server, and the first part of a tool's name is the label that its user knows. */
  const ask = ({ id, canonical, arguments: given }: AskedApproval): void => {
    close();
    const dot = canonical.indexOf('.');
    const item = {
      type: 'mcp_approval_request',
      id,
      server_label: canonical.slice(0, dot),
      name: canonical.slice(dot + 1),
      arguments: given,
    };
    end(add(item), item);
  };

  // ---- Provider data ----

  const keep = (part: NativePart): void => {
    const token = packNative(part);
    if (token === null) return;
    if (open?.kind === 'reasoning') {
      close('completed', { encrypted_content: token });
      return;
    }
    // At its position among the items, which the provider requires in the next request.
    close();
    const item: OutputItem = { type: 'reasoning', id: idOf('rs'), summary: [], encrypted_content: token };
    end(add(item), item);
  };
  /** In the form of `providers/openai-responses/reply.ts`: a whole item, what follows a message, or what precedes the end of a call. */
  const keepOwn = ({ data }: NativePart): void => {
    const { item, message, call } = (data ?? {}) as OwnData; // The members are checked one by one.
    if (call?.namespace !== undefined)
      for (const { item: named } of calls.values()) if (named.call_id === call.call_id) named.namespace = call.namespace;
    if (message?.phase !== undefined && open?.kind === 'message') open.item.phase = message.phase;
    if (typeof item !== 'object' || item === null) return;
    const { id, ...rest } = item as Record<string, unknown>;
    if (rest.type === 'reasoning' && open?.kind === 'reasoning') close('completed', item as Record<string, unknown>);
    else {
      close();
      const whole = { ...rest, type: String(rest.type), id: typeof id === 'string' && id !== '' ? id : idOf('item') };
      end(add(whole), whole);
    }
  };

  return {
    take(change: Exclude<MessageChange, { type: 'end' | 'failure' }>): void {
      if (change.type === 'call-start') startCall(change.call);
      else if (change.type === 'call-delta') callDelta(change.call, change.text);
      else if (change.type === 'call-end') endCall(change.call);
      else if (change.type === 'native') (isOwnWire ? keepOwn : keep)(change.part);
      else if (change.type === 'image') show(change);
      else if (change.type === 'search') showSearch(change);
      else if (change.type === 'approval') ask(change);
      else if (change.type === 'citations') cite(change.citations);
      else if (change.type === 'reasoning') think(change.text, change.nativeId);
      else if (change.type === 'text') say('output_text', change.text);
      else if (change.type === 'refusal') say('refusal', change.text);
    },
    /** Closes all open items at the end. */
    close,
    /** In the order in which they began. Incomplete items are marked as such. */
    items: (): OutputItem[] => items.map((item) => (item.status === 'in_progress' ? { ...item, status: 'incomplete' } : item)),
  };
}

type OwnData = { item?: unknown; message?: { phase?: unknown }; call?: { call_id: string; namespace?: unknown } };

/** Returns the free text from a call's one argument; if the model wrote something else, that text. */
function inputOf(text: string): string {
  const { input } = recordOf(tryParse(text));
  // If it is cut or invalid, the client's tool receives the raw text.
  return typeof input === 'string' ? input : text;
}
