//! What a source does that only looks at the events and the commits of a member.

/// All of `Source` but its control and its poll, as the field `member` does it. A function makes the member of the field.
macro_rules! as_its_member {
    () => {
        as_its_member!(std::convert::identity);
    };
    ($member:path) => {
        fn begin(&mut self, owned: &colored_consumer::Owned, offset: u64) {
            self.member.begin(owned, offset);
        }

        fn pause(&mut self, partition: &colored_consumer::TopicPartition) {
            self.member.pause(partition);
        }

        fn resume(&mut self, partition: &colored_consumer::TopicPartition) {
            self.member.resume(partition);
        }

        async fn close(self) -> Result<(), colored_consumer::Error> {
            $member(self.member).close().await
        }
    };
}

pub(crate) use as_its_member;
