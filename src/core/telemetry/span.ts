/** A finished operation of a trace. Attributes are named as in the semantic conventions of OpenTelemetry (HTTP, GenAI and MCP). */
import type { TraceContext } from './trace-context.ts';

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;
export type SpanKind = 'internal' | 'server' | 'client';

export type FinishedSpan = {
  name: string;
  kind: SpanKind;
  context: TraceContext;
  /** null: the first span of its trace. */
  parentId: string | null;
  startedAt: number;
  endedAt: number;
  /** Bounded with `boundAttribute`. */
  attributes: ReadonlyMap<string, AttributeValue>;
  /** `error.type` of a failed operation: a code, a status or a class name, never a message. */
  error: string | null;
};

const maxNameLength = 200;
/** Names that callers and models choose. */
const maxValueLength = 256;
/** Content, which is only recorded on request. */
export const maxContentLength = 8_192;

export function boundName(name: string): string {
  return name.slice(0, maxNameLength);
}

export function boundAttribute(value: AttributeValue, max: number = maxValueLength): AttributeValue {
  if (typeof value === 'string') return value.slice(0, max);
  return Array.isArray(value) ? value.slice(0, 16).map((item: string) => item.slice(0, max)) : value;
}

/** What is running now, by the kind of work; also the label of the live counts. */
export type Activity = 'requests' | 'turns' | 'model_calls' | 'tool_calls';

export function activityOf(attributes: Attributes): Activity | null {
  switch (attributes['gen_ai.operation.name']) {
    case 'invoke_agent':
      return 'turns';
    case 'chat':
      return 'model_calls';
    case 'execute_tool':
      return attributes['mcp.method.name'] === undefined ? 'tool_calls' : null;
    default:
      return attributes['http.request.method'] === undefined ? null : 'requests';
  }
}
