import manifest from '../../package.json' with { type: 'json' };

/** Version of the product, such as 0.1.0. The protocol has one of its own. */
export const VERSION: string = manifest.version;
