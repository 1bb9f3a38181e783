/** Reads server-sent events from text in chunks, as the HTML standard defines the format (9.2.6). */

export type ServerEvent = { id: string; event: string; data: string };

/** Returns a function that takes the next chunk and returns the events that it completes. */
export function createEventReader(): (chunk: string) => ServerEvent[] {
  let rest = '';
  let id = '';
  let event = '';
  let data: string[] = [];
  const readLine = (line: string): ServerEvent | null => {
    if (line === '') {
      const complete = data.length > 0 || event !== '' ? { id, event: event || 'message', data: data.join('\n') } : null;
      event = '';
      data = [];
      return complete;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'event') event = value;
    if (field === 'id') id = value;
    return null;
  };
  return (chunk) => {
    // A final CR may be the first half of CRLF: it stays until more text arrives.
    const text = rest + chunk;
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    return lines.map(readLine).filter((found) => found !== null);
  };
}

/** Returns the text that a chunk of a chat stream adds, in the formats of OpenAI, Anthropic and our sessions; otherwise ''. */
export function addedText({ data }: ServerEvent): string {
  const value = parse(data);
  if (value === null) return '';
  const choice = (value.choices as { delta?: { content?: unknown } }[] | undefined)?.[0]?.delta?.content;
  const delta = value.delta as { text?: unknown } | string | undefined;
  const isText = value.type === 'text-delta' || value.type === 'response.output_text.delta';
  for (const text of [choice, typeof delta === 'object' ? delta.text : undefined, isText ? (value.text ?? delta) : undefined])
    if (typeof text === 'string') return text;
  return '';
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    // Events such as `[DONE]` are not JSON.
    return null;
  }
}
