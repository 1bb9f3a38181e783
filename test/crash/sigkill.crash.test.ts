import { describeKill } from './matrix.ts';

describeKill('sigkill');
