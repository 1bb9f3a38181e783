import { Problem } from '../core/problem.ts';
import type { Adapter } from './adapter.ts';

export const anthropic: Adapter = {
  path: () => '',
  toBody() {
    throw new Problem('internal', 'Messages API is not spoken yet.');
  },
  createReply() {
    throw new Problem('internal', 'Messages API is not spoken yet.');
  },
};
