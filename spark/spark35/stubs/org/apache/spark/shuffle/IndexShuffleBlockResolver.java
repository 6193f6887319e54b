package org.apache.spark.shuffle;

import java.io.File;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.util.collection.OpenHashSet;
import scala.Option;

/**
 * The signatures of Spark's own class before 4.1, to compile against; never in the jar. Since 4.1 the map is a ConcurrentMap, so that
 * neither version can link a class that was compiled for the other one.
 */
public class IndexShuffleBlockResolver {
  public IndexShuffleBlockResolver(SparkConf conf, BlockManager blocks, Map<Object, OpenHashSet<Object>> taskIdMapsForShuffle) {}

  public native Map<Object, OpenHashSet<Object>> taskIdMapsForShuffle();

  public native File getDataFile(int shuffle, long map, Option<String[]> directories);

  public native File getIndexFile(int shuffle, long map, Option<String[]> directories);

  public native ManagedBuffer getBlockData(BlockId block, Option<String[]> directories);

  public native void writeMetadataFileAndCommit(int shuffle, long map, long[] lengths, long[] checksums, File data);

  public native void removeDataByMap(int shuffle, long map);

  public native StreamCallbackWithID putShuffleBlockAsStream(BlockId block, SerializerManager serializers);

  public native void stop();
}
