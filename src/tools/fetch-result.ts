import { fetchResultDescription, FetchResultInput, fetchResultName } from '../core/fetch-result.ts';
import { fetchCall } from '../core/result-bound.ts';
import { defineTool, ToolFault } from './define-tool.ts';

export const fetchResult = defineTool({
  name: fetchResultName,
  description: fetchResultDescription,
  input: FetchResultInput,
  annotations: {
    title: 'Read on in a long result',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  run({ callId, offset, maxBytes }, { results }) {
    if (results === null) throw new ToolFault('Results are kept in a session only, and this call has none.');
    const piece = results.read(callId, offset, maxBytes);
    if (piece === null) {
      throw new ToolFault(`No result of ${callId} is kept: it was short enough to be shown whole, is not of this session, or was dropped.`);
    }
    const { text, nextOffset, totalBytes } = piece;
    if (text === '' && offset > 0) throw new ToolFault(`The result of ${callId} ends before offset ${offset}. Begin at a smaller one.`);
    const rest =
      nextOffset === null
        ? `This is the end of it (${totalBytes} bytes in all).`
        : `Of ${totalBytes} bytes in all. To read on: ${fetchCall({ callId, offset: nextOffset })}`;
    return {
      isError: false,
      content: [
        { type: 'text' as const, text },
        { type: 'text' as const, text: `[${rest}]` },
      ],
      structuredContent: { callId, offset, nextOffset, totalBytes },
    };
  },
});
