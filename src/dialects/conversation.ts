/** A client's request as a conversation, whatever dialect it was written in: read by the dialects, taken by sessions and by the translating proxy. */
import type { InputPart, Message } from '../core/message.ts';
import type { ContentBlock } from '../core/tool.ts';

/** What the client says that one of its own tools gave; `callId` as it has it. */
export type CallResult = { callId: string; content: ContentBlock[]; isError: boolean };

/**
 * `system`: the text of all system and developer messages. `history`: up to the last assistant message. What comes after it is
 * new: `results` of calls, by the ids that the client has them under, and `input`, what the user said.
 */
export type Conversation = { system: string; history: Message[]; results: CallResult[]; input: InputPart[] };
