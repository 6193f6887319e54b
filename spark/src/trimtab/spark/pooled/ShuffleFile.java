package trimtab.spark.pooled;

import java.io.File;

/** A data or index file of a shuffle: the key of both pools. */
record ShuffleFile(int shuffle, File file) {}
