import { cohere } from '../../../src/providers/cohere/reply.ts';
import { describeRecorded } from '../recorded.ts';

describeRecorded({ api: 'cohere-v2', adapter: cohere });
