import { describeKill } from './matrix.ts';

describeKill('sigterm');
