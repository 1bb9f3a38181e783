/** Content blocks of MCP servers: read into our blocks without loss, and written for MCP clients as they came. */
import { isDeeperThan, isRecord } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { ContentBlock, inlineIcons } from './tool.ts';

/** Members of a block that contain others, such as `resource` with its `_meta`. */
const wrappers = 2;

/** What cannot be a block is named in a text. Icons at URLs are left out, since a client would send requests there. */
export function readBlock(block: unknown): ContentBlock {
  if (!isRecord(block)) return { type: 'text', text: '[A content block was left out: it is not an object.]' };
  if (isDeeperThan(block, limits.maxJsonDepth + wrappers))
    return { type: 'text', text: `[A content block was left out: it nests deeper than ${limits.maxJsonDepth} levels.]` };
  // A server has no blocks of our own type.
  const read = block.type === 'other' ? null : ContentBlock.safeParse(block).data;
  if (read == null) return { type: 'other', block };
  if (read.type !== 'resource_link' || read.icons === undefined) return read;
  const { icons, ...link } = read;
  const inline = inlineIcons(icons);
  return { ...link, ...(inline !== undefined && { icons: inline }) };
}

export function toClientBlock(block: ContentBlock): Record<string, unknown> {
  return block.type === 'other' ? block.block : block;
}
