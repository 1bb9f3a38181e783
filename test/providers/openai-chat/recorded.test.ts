import { chatCompletions } from '../../../src/providers/openai-chat/reply.ts';
import { describeRecorded } from '../recorded.ts';

describeRecorded({ api: 'openai-chat', adapter: chatCompletions });
