import { fetchResultDescription, FetchResultInput, fetchResultName } from '../core/tools/injected-tool.ts';
import { fetchCall } from '../core/tools/result-bound.ts';
import { defineTool, ToolFault } from './define-tool.ts';

export const fetchResult = defineTool({
  name: fetchResultName,
  description: fetchResultDescription,
  input: FetchResultInput,
  annotations: {
    title: 'Read more of a long result',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  run({ callId, offset, maxBytes }, { results }) {
    if (results === null) throw new ToolFault('Results are stored per session, and this call has no session.');
    const piece = results.read(callId, offset, maxBytes);
    if (piece === null) {
      throw new ToolFault(
        `No stored result for ${callId}: it was short enough to be shown in full, belongs to another session, or has been deleted.`,
      );
    }
    const { text, nextOffset, totalBytes } = piece;
    if (text === '' && offset > 0) throw new ToolFault(`The result of ${callId} ends before offset ${offset}. Use a smaller offset.`);
    const rest =
      nextOffset === null
        ? `This is the end of the result (${totalBytes} bytes in total).`
        : `${totalBytes} bytes in total. To continue, call ${fetchCall({ callId, offset: nextOffset })}`;
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
