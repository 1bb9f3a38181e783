/**
 * A result of somebody else's tool as models, terminals and pages may see it: without escape sequences, characters that reorder text and
 * such as carry hidden words. The structured form is data and stays as it is; where it is told as text, `seen-json.ts` writes it. Links are
 * text here: nobody follows them. Used by the call door, before secrets are taken out: what was cut in two comes together first.
 */
import { cleanOutput } from './listing/listing-text.ts';
import type { ContentBlock, ToolResult } from './tool.ts';

export function cleanResult<Result extends ToolResult>(result: Result): Result {
  return { ...result, content: result.content.map(cleanBlock) };
}

function cleanBlock(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text: cleanOutput(block.text) };
    case 'image':
    case 'audio':
      return { ...block, mimeType: cleanOutput(block.mimeType) };
    case 'resource_link':
      return {
        ...block,
        uri: cleanOutput(block.uri),
        name: cleanOutput(block.name),
        ...(block.title !== undefined && { title: cleanOutput(block.title) }),
        ...(block.description !== undefined && { description: cleanOutput(block.description) }),
        ...(block.mimeType !== undefined && { mimeType: cleanOutput(block.mimeType) }),
      };
    case 'resource': {
      const { uri, mimeType, text } = block.resource;
      const resource = {
        ...block.resource,
        uri: cleanOutput(uri),
        ...(mimeType !== undefined && { mimeType: cleanOutput(mimeType) }),
        ...(text !== undefined && { text: cleanOutput(text) }),
      };
      return { ...block, resource };
    }
    default:
      return block satisfies never;
  }
}
