/**
 * Cleans a result of an external tool for models, terminals and pages: removes escape sequences, characters that reorder text, and
 * invisible characters that can carry hidden text. The structured form is data and stays unchanged; `visible-json.ts` cleans it where it
 * is rendered as text. Links are plain text here and are never followed. Used by the call path before secrets are removed, since
 * cleaning can join the parts of a split secret.
 */
import { cleanOutput } from '../listing/listing-text.ts';
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
