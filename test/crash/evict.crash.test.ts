import { describeKill } from './matrix.ts';

describeKill('evict');
