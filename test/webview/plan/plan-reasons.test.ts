import { expect, it } from 'vitest';
import { reasonsOf } from '../../../webview/plan/plan-reasons.ts';

it.each([
  ['lists in plain text', 'One finds it, another mends it.\n\nmodel_id = [0, 1]\nsubtasks = ["a", "b"]\naccess_list = [[], [0]]', 'One finds it, another mends it.'],
  ['a fence', 'One worker suffices.\n\n```python\nmodel_id = [0]\nsubtasks = ["a"]\naccess_list = [[]]\n```', 'One worker suffices.'],
  ['an object', 'Because.\n{"model_ids": [0], "subtasks": ["a"], "access_list": [[]]}', 'Because.'],
  ['the short form of conductor-mini', 'The bug is small. Steps: write1, write1, check3.\n\nmodel_id = [1, 1, 3]\nsubtasks = [', 'The bug is small.'],
  ['thinking', '<think>It is small.</think>\nmodel_id = []', 'It is small.'],
  ['no reasons', 'model_id = [0]\nsubtasks = ["a"]\naccess_list = [[]]', ''],
  ['no lists', 'It spoke of subtasks and nothing else.', 'It spoke of subtasks and nothing else.'],
])('the reasons of a plan with %s', (_what, text, reasons) => {
  expect(reasonsOf(text)).toBe(reasons);
});
