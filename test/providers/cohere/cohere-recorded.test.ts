import { cohere } from '../../../src/providers/cohere/cohere.ts';
import { describeRecorded } from '../recorded.ts';

describeRecorded({ api: 'cohere-v2', adapter: cohere });
