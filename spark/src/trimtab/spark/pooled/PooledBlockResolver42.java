package trimtab.spark.pooled;

import java.io.File;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import scala.Option;

/** Spark's own resolver of 4.1 and 4.2, with {@link PooledBlocks}. Any thread may call it. */
final class PooledBlockResolver42 extends IndexShuffleBlockResolver implements PooledBlockResolver {
  private final PooledBlocks blocks;

  PooledBlockResolver42(SparkConf conf, IndexShuffleBlockResolver own) {
    super(conf, null, own.taskIdMapsForShuffle());
    blocks = new PooledBlocks(conf, this);
  }

  @Override
  public ManagedBuffer getBlockData(BlockId block, Option<String[]> directories) {
    ManagedBuffer pooled = blocks.find(block, directories);
    return pooled != null ? pooled : super.getBlockData(block, directories);
  }

  @Override
  public void writeMetadataFileAndCommit(int shuffle, long map, long[] lengths, long[] checksums, File data) {
    blocks.dropIfRetried(shuffle);
    blocks.drop(shuffle, map);
    super.writeMetadataFileAndCommit(shuffle, map, lengths, checksums, data);
    blocks.drop(shuffle, map);
  }

  @Override
  public void removeDataByMap(int shuffle, long map) {
    blocks.drop(shuffle, map);
    super.removeDataByMap(shuffle, map);
  }

  @Override
  public StreamCallbackWithID putShuffleBlockAsStream(BlockId block, SerializerManager serializers) {
    blocks.drop(block);
    return super.putShuffleBlockAsStream(block, serializers);
  }

  @Override
  public void dropShuffle(int shuffle) {
    blocks.dropShuffle(shuffle);
  }

  @Override
  public void stop() {
    blocks.close();
    super.stop();
  }
}
