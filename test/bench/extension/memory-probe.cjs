// Loaded into a process that is measured: on SIGUSR2 it collects garbage and writes what is held.
const { renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const v8 = require('node:v8');
const { runInNewContext } = require('node:vm');

const folder = process.env.CONDUCTOR_BENCH_MEMORY;
if (folder) {
  process.on('SIGUSR2', () => {
    v8.setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    // Twice: what finalisers free in the first goes in the second.
    collect();
    collect();
    const file = path.join(folder, `${process.pid}.json`);
    writeFileSync(`${file}.tmp`, JSON.stringify(process.memoryUsage()));
    renameSync(`${file}.tmp`, file);
  });
}
