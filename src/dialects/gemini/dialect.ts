/**
 * Gemini's API: the dialect, its responses and its errors. `request.ts` reads requests, `writer.ts` writes parts;
 * `providers/gemini/` is the provider's side of the same wire. Wire: API references "Generating content" and "google.rpc.Status",
 * google/rpc/error_details.proto, and @google/genai 3.1.
 */
import type { FinishReason, Usage } from '../../core/model/chat-event.ts';
import { reportedIn } from '../../core/model/provider-failure.ts';
import type { ProblemBody } from '../../core/problem.ts';
import { isRecord, type Json, listOf, stringOf } from '../../core/json/wire-value.ts';
import { type AnswerMessage, answerText, type MessageChange } from '../answer-message.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from '../dialect.ts';
import { encodeFrame } from '../native.ts';
import { readGeminiRequest, sessionOfGeminiCalls, withGeminiInstructions } from './request.ts';
import { withoutThoughts } from './signature.ts';
import { createPartWriter } from './writer.ts';

export const geminiDialect: Dialect = {
  name: 'gemini',
  modelInPath: true,
  bareFrames: true,
  readRequest: readGeminiRequest,
  sessionOfCalls: sessionOfGeminiCalls,
  withInstructions: withGeminiInstructions,
  withoutTokens: withoutThoughts,
  createWriter: createChunkWriter,
  toDocument,
  // Some clients of this API fail at a comment.
  heartbeat: encodeFrame({ data: '{"candidates":[]}' }),
  errorBody: googleError,
  failureFrames,
};

const toFrame = (body: object): AnswerFrame => ({ data: JSON.stringify(body) });

function failureFrames(problem: ProblemBody): AnswerFrame[] {
  return [toFrame(googleError(problem))];
}

/** A chunk for each part, and a last one with the reason and the usage. */
function createChunkWriter(identity: AnswerIdentity, message: AnswerMessage): (change: MessageChange | null) => AnswerFrame[] {
  const parts = createPartWriter(message, identity);
  const chunk = (part: Json): AnswerFrame => toFrame(responseBody([part], identity));
  return (change) => {
    if (change === null) return [];
    if (change.type === 'failure') return failureFrames(change.problem);
    if (change.type !== 'end') return parts.write(change).map(chunk);
    return [...parts.end().map(chunk), toFrame(responseBody([{ text: '' }], identity, ended(change.finish, message)))];
  };
}

function toDocument(finish: FinishReason, identity: AnswerIdentity, message: AnswerMessage): Record<string, unknown> {
  const writer = createPartWriter(message, identity);
  const parts = [...message.parts().flatMap(writer.write), ...writer.end()];
  return responseBody(parts, identity, ended(finish, message));
}

type Ended = { candidate: Json; usage: Usage };

function responseBody(parts: readonly Json[], { id, model }: AnswerIdentity, end?: Ended): Record<string, unknown> {
  return {
    candidates: [{ content: { parts, role: 'model' }, ...end?.candidate, index: 0 }],
    ...(end !== undefined && { usageMetadata: usageBody(end.usage) }),
    modelVersion: model,
    responseId: id,
  };
}

function ended(finish: FinishReason, message: AnswerMessage): Ended {
  const isRefusal = finish === 'stop' && message.parts().some(({ type }) => type === 'refusal');
  const finishReason = isRefusal ? 'SAFETY' : finishReasons[finish];
  return { candidate: { finishReason, ...grounding(message) }, usage: message.usage() };
}

/** Calls end with `STOP`, as text does. */
const finishReasons = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  error: 'OTHER',
  unknown: 'STOP',
} as const satisfies Record<FinishReason, string>;

/** Places count bytes of UTF-8 (API reference "GroundingMetadata"). */
function grounding(message: AnswerMessage): Json {
  const searches = message.parts().filter((part) => part.type === 'search');
  const inText = message.parts().flatMap((part) => (part.type === 'citations' ? part.citations : []));
  // An answer that cites nothing has what was found.
  const cited = inText.length > 0 ? inText : searches.flatMap(({ sources }) => sources);
  if (cited.length === 0 && searches.length === 0) return {};
  const text = answerText(message.parts(), 'text');
  const bytesTo = (end: number): number => new TextEncoder().encode(text.slice(0, end)).byteLength;
  return {
    groundingMetadata: {
      ...(searches.length > 0 && { webSearchQueries: searches.flatMap(({ queries }) => queries) }),
      groundingChunks: cited.map(({ url: uri, title }) => ({ web: { uri, ...(title !== undefined && { title }) } })),
      groundingSupports: cited.flatMap(({ start, end }, index) => {
        if (start === undefined || end === undefined) return [];
        const segment = { startIndex: bytesTo(start), endIndex: bytesTo(end), text: text.slice(start, end) };
        return [{ segment, groundingChunkIndices: [index] }];
      }),
    },
  };
}

/** On this wire, the tokens of thoughts are not part of the candidates' (API reference "UsageMetadata"). */
function usageBody({ inputTokens, outputTokens, reasoningTokens = 0, cachedInputTokens = 0 }: Usage): Record<string, unknown> {
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
    totalTokenCount: inputTokens + outputTokens,
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    ...(cachedInputTokens > 0 && { cachedContentTokenCount: cachedInputTokens }),
  };
}

/** Clients branch on `error.status`; our own code is the `reason` of the details. */
function googleError(problem: ProblemBody, requestId?: string): Record<string, unknown> {
  const { status: code, detail, issues, retryAfterMs } = problem;
  const reported = reportedIn(problem);
  const faults = listOf(issues).filter(isRecord);
  const details = [
    {
      ...typed('ErrorInfo'),
      reason: reported?.code ?? problem.code,
      domain: 'moniker',
      ...(requestId !== undefined && { metadata: { requestId } }),
    },
    ...(faults.length > 0
      ? [{ ...typed('BadRequest'), fieldViolations: faults.map(({ path, message }) => ({ field: stringOf(path), description: message })) }]
      : []),
    ...(typeof retryAfterMs === 'number' ? [{ ...typed('RetryInfo'), retryDelay: `${Math.ceil(retryAfterMs / 1000)}s` }] : []),
  ];
  return { error: { code, message: reported?.message || detail, status: statusNames.get(code) ?? otherStatus(code), details } };
}

function typed(name: string): { '@type': string } {
  return { '@type': `type.googleapis.com/google.rpc.${name}` };
}

function otherStatus(code: number): string {
  return code >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT';
}

const statusNames = new Map([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [501, 'UNIMPLEMENTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
]);
